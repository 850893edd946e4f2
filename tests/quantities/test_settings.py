"""The settings of quantities: ours, Pinocchio's words for them, and what is refused."""

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError, UnknownNameError
from kinetree.quantities.settings import OTHER_MEANING, checked, ordered
from kinetree.robot.symbolic import closed_form

ARM = kt.robots.arm()
Q, (V, A) = ARM.random(0), np.random.default_rng(0).standard_normal((2, 7))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("body", "LOCAL"), ("origin", "LOCAL_WORLD_ALIGNED"), ("world", "WORLD")],
)
def test_pinocchios_words_for_axes_are_taken(ours, theirs):
    expected = ARM.velocity(Q, V, "tool", axes=ours)
    for word in (theirs, theirs.lower(), theirs.title(), getattr(pin.ReferenceFrame, theirs)):
        assert (ARM.velocity(Q, V, "tool", axes=word) == expected).all()
        assert (ARM.velocities(Q, V, axes=word) == ARM.velocities(Q, V, axes=ours)).all()
    one, other = (ARM.kernel("jacobian", frame="tool", axes=x) for x in (ours, theirs))
    assert one is other


def test_a_number_is_no_word_for_axes_though_an_enumeration_equals_it():
    ARM.velocity(Q, V, "tool", axes=pin.LOCAL)
    assert pin.LOCAL == 1
    with pytest.raises(UnknownNameError, match="no value of axes 1"):
        ARM.velocity(Q, V, "tool", axes=1)


@pytest.mark.parametrize("quantity", OTHER_MEANING)
@pytest.mark.parametrize("word", ["local_world_aligned", pin.LOCAL_WORLD_ALIGNED])
def test_a_word_that_means_something_else_in_pinocchio_is_refused(quantity, word):
    with pytest.raises(KinetreeError, match="pass axes='origin' for ours"):
        ARM.kernel(quantity, frame="tool", axes=word)
    ARM.kernel(quantity, frame="tool", axes="LOCAL")


@pytest.mark.parametrize("word", ["here", 3, None, pin.FrameType.BODY])
def test_a_wrong_word_lists_ours_and_mentions_theirs(word):
    with pytest.raises(UnknownNameError) as e:
        ARM.velocity(Q, V, "tool", axes=word)
    assert "valid are 'origin', 'body', 'world', and Pinocchio's 'LOCAL_WORLD_ALIGNED'" in str(
        e.value
    )


def test_settings_not_given_are_the_first_ones():
    assert ordered("acceleration", {"frame": "tool"}) == ("tool", "origin", "classical")
    with pytest.raises(KinetreeError, match="jacobian needs frame="):
        ordered("jacobian", {})
    with pytest.raises(UnknownNameError, match="jacobian has no setting 'kind'"):
        ordered("jacobian", {"frame": "tool", "kind": "spatial"})


def test_values_are_checked_for_a_robot():
    assert checked(ARM.model, "jacobian", ("tool", "Local")) == ("tool", "body")
    assert checked(ARM.model, "hybrid_dynamics", (["joint1"],)) == (("joint1",),)
    with pytest.raises(KinetreeError, match="jacobian needs 'frame' and 'axes'"):
        checked(ARM.model, "jacobian", ("tool",))
    with pytest.raises(UnknownNameError, match="momentum has no value of about 'tool'"):
        checked(ARM.model, "momentum", ("tool",))
    with pytest.raises(UnknownNameError, match="has no frame 'tol': did you mean 'tool'"):
        checked(ARM.model, "jacobian", ("tol", "body"))
    with pytest.raises(UnknownNameError, match="has no moving joint 'tool_mount'"):
        checked(ARM.model, "hybrid_dynamics", (["tool_mount"],))


def test_a_closed_form_refuses_what_a_kernel_refuses():
    model = kt.robots.cart_pole().model
    with pytest.raises(UnknownNameError, match="no value of axes"):
        closed_form(model, "jacobian", "", "pole", "sideways", simplify=False)
    one, two = (closed_form(model, "jacobian", "", "pole", x).entries for x in ("body", "LOCAL"))
    assert one == two
