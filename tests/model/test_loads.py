"""Keys of `external=`: each says what its numbers are."""

import pytest

import kinetree as kt
from kinetree.model.loads import load_name, meaning, size

KEYS = {
    "tool": "in the frame's axes",
    kt.Point("tool"): "then its point",
    kt.Wrench("tool", "origin"): "in the world's axes",
    kt.Wrench("tool", "world"): "about the world's origin",
    kt.CenterWrench("link3"): "about the centre of mass",
    kt.BodyTorque("link3"): "torque on a body",
    kt.JointTorque("joint2"): "in its parent's axes",
}


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_kernel_has_an_argument_for_each_load_whose_note_says_what_it_is(key):
    kernel = kt.robots.arm().kernel("generalized_forces", external=(key,))
    assert dict(kernel.interface.inputs)[load_name(key)] == (size(key),)
    assert KEYS[key] in meaning(key)
    header = " ".join(kernel.c_code().header.replace("*", " ").split())
    assert meaning(key) in header
