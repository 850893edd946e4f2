"""What is made once is found again by its type and its key."""

from kinetree.robot.memo import MOST, Memo


def test_the_same_key_gives_the_same_object():
    memo = Memo()
    first = memo.recall(list, (1, "a"), lambda: [1])
    assert memo.recall(list, (1, "a"), lambda: [2]) is first
    assert memo.recall(list, (1, "b"), lambda: [3]) == [3]


def test_types_do_not_share_keys():
    memo = Memo()
    assert memo.recall(list, "key", list) == []
    assert memo.recall(dict, "key", dict) == {}


def test_what_cannot_be_hashed_is_made_anew():
    memo = Memo()
    assert memo.recall(list, [1], lambda: [1]) is not memo.recall(list, [1], lambda: [1])
    assert memo.count(list) == 0


def test_the_oldest_goes_when_there_are_too_many():
    memo = Memo()
    for k in range(MOST + 1):
        memo.recall(int, k, lambda k=k: k)
    assert memo.count(int) == MOST
    assert memo.recall(int, MOST, lambda: -1) == MOST
    assert memo.recall(int, 0, lambda: -1) == -1
