"""Size: robots of ten thousand links, in time and memory that grow no faster than they do."""

import gc
import math
import sys
import time
import tracemalloc
import warnings
from functools import partial

import pytest

import kinetree as kt
from kinetree.model.model import WORLD
from kinetree.robot.load import load_model

MANY = 10_000
SECONDS = 3.0
QUIET = 0.052  # seconds of `work` on the machine of that figure, when it does nothing else
BYTES = 10_000  # a link

PARENTS = {"chain": lambda i: i - 1, "star": lambda i: 0, "bush": lambda i: (i - 1) // 3}


def robot(shape, count, kind="revolute"):
    """The URDF of a tree of links l0, l1, ..., each above its children."""
    link = """<link name='l{0}'><inertial><mass value='1'/>
        <inertia ixx='1' iyy='1' izz='1'/></inertial></link>"""
    joint = """<joint name='j{0}' type='{2}'><parent link='l{1}'/><child link='l{0}'/>
        <origin xyz='0 0 0.1'/><axis xyz='0 0 1'/></joint>"""
    links = [link.format(i) for i in range(count)]
    joints = [joint.format(i, PARENTS[shape](i), kind) for i in range(1, count)]
    return "\n".join(["<robot name='many'>", *links, *joints, "</robot>"])


def seconds(text):
    gc.collect()
    gc.freeze()  # what other tests have left is not gone through again and again
    start = time.process_time()
    load_model(text)
    took = time.process_time() - start
    gc.unfreeze()
    return took


def work():
    """How long some work takes that Kinetree has no part in."""
    start = time.process_time()
    table = {f"l{i}": (i, float(i)) for i in range(150_000)}
    assert sum(len(name) * x for name, (_, x) in table.items()) > 0
    return time.process_time() - start


@pytest.mark.slow
@pytest.mark.parametrize("shape", PARENTS)
def test_ten_thousand_links_are_assembled(shape):
    for kind, count in (("revolute", MANY), ("fixed", 1)):
        model = load_model(robot(shape, MANY, kind), base="floating")
        assert (len(model.frames), len(model.bodies)) == (MANY, count)
        assert model.bodies[0].parent == WORLD
        for body in model.bodies[1:]:
            parent = PARENTS[shape](int(body.name[1:]))
            assert model.bodies[body.parent].name == f"l{parent}"


@pytest.mark.slow
@pytest.mark.parametrize("shape", PARENTS)
def test_ten_thousand_links_load_in_seconds_and_in_linear_time(shape):
    # the best of some: what else the machine does is no part of it
    small = min(seconds(robot(shape, MANY // 8)) for _ in range(4))
    large, text = math.inf, robot(shape, MANY)
    for _ in range(3):
        before, took = work(), seconds(text)
        slowed = (before + work()) / (2 * QUIET)  # by others, who have a share in the processor
        large = min(large, took / max(1.0, slowed))
        # a part that is quadratic would take 64 times as long
        if large < min(SECONDS, 2 * 8 * small):
            return
    pytest.fail(f"{large:.2f} s, of an eighth {small:.2f} s")


def mimics(shape, count):
    """As `robot`; every joint but the first follows the one before."""
    text = robot(shape, count)
    for i in range(2, count):
        place = f"<child link='l{i}'/>"
        text = text.replace(place, f"{place}<mimic joint='j{i - 1}' offset='0.001'/>", 1)
    return text


def massless(count):
    """The BVH of a chain of joints without inertia, each of which is doubtful."""
    bone = "{} {}\n{{\nOFFSET 0 1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
    bones = [bone.format("JOINT" if i else "ROOT", f"j{i}") for i in range(count)]
    numbers = " ".join(["0"] * 3 * count)
    motion = f"MOTION\nFrames: 1\nFrame Time: 1\n{numbers}\n"
    return "".join(["HIERARCHY\n", *bones, "}\n" * count, motion])


def calls(load, source):
    """How many Python functions are called: what a machine's load does not change."""
    count = 0

    def counted(frame, event, argument):
        nonlocal count
        count += 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.setprofile(counted)
        try:
            load(source)
        finally:
            sys.setprofile(None)
    return count


TIMES_FOUR = 4 * 1.1
"""By how much the work of loading grows with four times as many links; quadratic is 16."""


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["chain", "star"])
def test_the_work_of_loading_mimic_joints_is_linear(shape):
    small, large = (calls(load_model, mimics(shape, n)) for n in (400, 1600))
    assert large < TIMES_FOUR * small


@pytest.mark.slow
@pytest.mark.parametrize("load", [load_model, partial(kt.read_bvh, units="cm", up="y")])
def test_the_work_of_loading_a_long_skeleton_is_linear(tmp_path, load):
    work = []
    for n in (300, 1200):
        path = tmp_path / f"{n}.bvh"
        path.write_text(massless(n))
        work.append(calls(load, path))
    assert work[1] < TIMES_FOUR * work[0]


@pytest.mark.slow
@pytest.mark.parametrize("shape", PARENTS)
def test_the_memory_of_loading_is_linear(shape):
    def peak(count):
        text = robot(shape, count)
        gc.collect()
        gc.disable()  # when it would run depends on everything else that is in memory
        tracemalloc.start()
        load_model(text)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        gc.enable()
        return used

    small, large = peak(500), peak(2000)
    assert large < 4.4 * small
    assert large < 2000 * BYTES


def swarm(count):
    """Arms on one base, side by side."""
    a = kt.Assembly("swarm")
    for k in range(count):
        parent = "base"
        for j in range(3):
            where = (0.0, 0.1 * k, 0.0) if parent == "base" else (0.0, 0.0, 0.3)
            axis = ([0.0, 0.6, 0.8], [0.6, 0.8, 0.0], [0.8, 0.0, 0.6])[j]
            a.add(f"a{k}_{j}", parent, kt.joints.Revolute(axis), where, [0.1, 0.2, 0.3], mass=1.0)
            parent = f"a{k}_{j}"
    return a.robot()


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_a_swarm_costs_as_its_parts(quantity):
    one, many = (sum(swarm(n).kernel(quantity).operations.values()) for n in (1, 20))
    assert many <= 20 * one
