"""What is made once is found again by its key."""

from kinetree.robot.memo import KEPT, Memo


def test_the_same_key_gives_the_same_object():
    memo = Memo()
    first = memo.recall((1, "a"), lambda: [1])
    assert memo.recall((1, "a"), lambda: [2]) is first
    assert memo.recall((1, "b"), lambda: [3]) == [3]


def test_what_cannot_be_hashed_is_made_anew():
    memo = Memo()
    assert memo.recall([1], lambda: [1]) is not memo.recall([1], lambda: [1])
    assert len(memo) == 0


def test_the_oldest_goes_when_there_are_too_many():
    memo = Memo()
    for k in range(KEPT + 1):
        memo.recall(k, lambda k=k: k)
    assert len(memo) == KEPT
    assert memo.recall(KEPT, lambda: -1) == KEPT
    assert memo.recall(0, lambda: -1) == -1
