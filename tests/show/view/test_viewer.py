"""The viewer: what is shown are the numbers of the API."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints import HeldFrame, KnifeEdge
from kinetree.errors import KinetreeError, SimulationWarning, StateError
from kinetree.show.view import notebook
from kinetree.show.view.pull import Pull
from kinetree.show.view.recording import on_white
from kinetree.show.view.scene import LAYERS, Scene, quat_wxyz
from kinetree.show.view.sliders import closed, slider_limits
from kinetree.show.view.surroundings import round_length
from kinetree.show.view.trajectory import Trajectory, load_trajectory
from kinetree.show.view.viewer import Viewer
from tests.capture.skeletons import walker
from tests.cli.test_app import invoke

ARM = kt.robots.arm()


def eventually(condition):
    """Wait until a condition holds."""
    until = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


class Recorder:
    """Takes the calls of viser's scene."""

    def __init__(self):
        self.nodes = {}

    def add(self, name, *arrays, **options):
        assert name not in self.nodes
        self.nodes[name] = SimpleNamespace(arrays=arrays, **options)
        return self.nodes[name]

    def add_line_segments(self, name, points, color, **options):
        return self.add(name, points=points, color=color, **options)

    add_frame = add_mesh_simple = add_arrows = add_point_cloud = add


def test_a_scene_puts_each_body_where_the_robot_has_it():
    recorder = Recorder()
    scene = Scene(recorder, ARM)
    q = ARM.random(0)
    scene.update(q)
    for k, (name, pose) in enumerate(zip(ARM.bodies, ARM.poses(q), strict=True)):
        node = recorder.nodes[f"/robot/{k} {name}"]
        assert np.allclose(node.position, pose[:3, 3])
        assert np.allclose(node.wxyz, quat_wxyz(pose[:3, :3]))
    assert scene.surfaces == {"primitive": 8}


@pytest.mark.parametrize("kind", ["simulation", "motion", "npz", "arrays"])
def test_a_trajectory_is_whatever_has_a_motion(kind, tmp_path):
    run = ARM.simulate(ARM.random(0), np.zeros(7), time=0.1, dt=0.01)
    run.save(tmp_path / "run.npz")
    given = {
        "simulation": run,
        "motion": kt.Motion.from_simulation(ARM, run),
        "npz": str(tmp_path / "run.npz"),
        "arrays": {"q": run.q, "times": run.times},
    }[kind]
    found = Trajectory(ARM, given)
    assert found.end == pytest.approx(0.1)
    for k in (0, 4, 10):
        np.testing.assert_allclose(found.at(run.times[k])[0], run.q[k], atol=1e-12)


@pytest.mark.parametrize(("given", "words"), [(3, "is a int"), ({"v": [[0.0]]}, "no 'q'")])
def test_what_is_no_trajectory_is_refused(given, words):
    with pytest.raises(KinetreeError, match=words):
        Trajectory(ARM, given)


def test_a_recorded_skeleton_plays_and_says_that_it_has_no_mass(tmp_path):
    pytest.importorskip("viser")
    (tmp_path / "w.bvh").write_text(walker())
    recorded = kt.read_bvh(tmp_path / "w.bvh", units="cm", up="y")
    viewer = Viewer(recorded.robot, recorded, port=8370, run=False)
    viewer.tick(0.5)
    assert "no mass" in viewer._text.content
    assert not viewer._energy.plot.visible
    np.testing.assert_allclose(viewer.q, Trajectory(recorded.robot, recorded).at(0.5)[0])
    viewer.close()


@pytest.mark.parametrize(("way", "kept"), [(1.5, 1.5), (1000.0, 10.0)])
def test_the_camera_sees_where_a_trajectory_leads_nearby(way, kept):
    pytest.importorskip("viser")
    robot = kt.robots.quadruped()
    q = np.tile(robot.neutral(), (2, 1))
    q[1, 0] += way
    viewer = Viewer(robot, {"q": q, "times": [0.0, 1.0]}, port=8390, run=False)
    size = np.subtract(*viewer.scene.bounds(q[0])[::-1])[0]
    low, high = viewer._bounds()
    assert size < high[0] - low[0] <= size + kept
    assert high[0] - low[0] == pytest.approx(size + way) or way > kept
    viewer.close()


def test_pictures_have_a_white_background():
    seen = np.array([[[10, 20, 30, 255], [0, 0, 0, 0], [255, 0, 0, 128]]], np.uint8)
    assert on_white(seen).tolist() == [[[10, 20, 30], [255, 255, 255], [255, 127, 127]]]
    assert on_white(seen[..., :3]) is not None


def test_layers_are_shown_and_hidden_and_bars_follow_the_gravity_torques():
    recorder = Recorder()
    scene = Scene(recorder, ARM)
    for layer in LAYERS:
        scene.show(layer, True)
    assert all(node.visible for name, node in recorder.nodes.items() if name.count("/") > 2)
    q = ARM.random(1)
    scene.update(q)
    lengths = np.array(
        [recorder.nodes[f"/robot/{k} {x}/torque"].scale[2] for k, x in enumerate(ARM.bodies)]
    )
    expected = ARM.gravity_forces(q) / ARM.limits.effort
    assert np.allclose(lengths / scene.size, 0.8 * expected, atol=1e-5)


def test_a_joint_has_a_rod_along_its_axis():
    recorder = Recorder()
    Scene(recorder, kt.robots.quadruped("floating"))
    rods = [name for name in recorder.nodes if "/axis" in name]
    assert len(rods) == 12  # none for the free base
    arm = Recorder()
    Scene(arm, ARM)
    for k, body in enumerate(ARM.model.bodies):
        (motion,) = body.joint.subspace([0.0])
        w, x, y, z = arm.nodes[f"/robot/{k} {ARM.bodies[k]}/axis0"].wxyz
        along_z = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
        assert np.allclose(along_z, [float(c) for c in motion.angular])


def test_constraints_are_balls_on_both_frames_and_a_line_between_them():
    recorder = Recorder()
    robot = kt.robots.four_bar().constrain(
        HeldFrame("foot", "crank", at_frame=(0.1, 0, 0), at_base=(0, 0, 0.2)),
        KnifeEdge("skate", "rocker"),
    )
    scene = Scene(recorder, robot)
    balls = {name: node for name, node in recorder.nodes.items() if "/constraint" in name[1:]}
    lines = balls.pop("/robot/constraints")
    assert all(node.visible for node in (lines, *balls.values()))
    at = {name.rsplit("/", 1)[1]: node.position.tolist() for name, node in balls.items()}
    assert at == {
        "constraint0 frame": [0.35, 0, 0],
        "constraint0 base": [0.3, 0, 0],
        "constraint1 frame": [0.1, 0, 0],
        "constraint1 base": [0, 0, 0.2],
        "constraint2 frame": [0, 0, 0],  # what is forbidden is a velocity: there is no other end
    }
    q = np.array([0.3, -0.2, 0.5])
    scene.update(q)
    ends = [
        [("coupler", 0.35), ("rocker", 0.3)],
        [("crank", 0.1), (None, [0, 0, 0.2])],
    ]
    for line, pair in zip(lines.points, ends, strict=True):
        for point, (frame, reach) in zip(line, pair, strict=True):
            expected = reach if frame is None else (robot.pose(q, frame) @ [reach, 0, 0, 1])[:3]
            assert np.allclose(point, expected, atol=1e-6)
    scene.show("constraints", False)
    assert not any(node.visible for node in (lines, *balls.values()))


def test_the_bounds_hold_every_surface():
    recorder = Recorder()
    low, high = Scene(recorder, ARM).bounds(ARM.neutral())
    assert low[2] == pytest.approx(-0.012, abs=0.02)
    reach = ARM.pose(ARM.neutral(), ARM.bodies[-1])[2, 3]
    assert reach <= high[2] < reach + 0.2


def test_the_ground_has_cells_of_round_lengths():
    assert [round_length(x) for x in (0.3, 0.99, 1.0, 7.0)] == [0.2, 0.5, 1.0, 5.0]


def test_quaternions_turn_as_their_matrices_do():
    free = kt.robots.quadruped().random(0, 50)[:, 3:7]
    robot = kt.robots.quadruped()
    q = np.tile(robot.neutral(), (50, 1))
    q[:, 3:7] = free
    for xyzw, pose in zip(free, robot.poses(q)[:, 0], strict=True):
        wxyz = quat_wxyz(pose[:3, :3])
        assert abs(wxyz @ xyzw[[3, 0, 1, 2]]) == pytest.approx(1)


def test_a_joint_that_is_moved_takes_its_loop_with_it_as_far_as_it_closes():
    robot = kt.robots.four_bar()
    moved = closed(robot, np.array([0.4, 0.0, 0.0]), held=("crank_joint",))
    assert moved[0] == pytest.approx(0.4, abs=1e-12)
    assert np.abs(robot.constraints.errors(moved)).max() < 1e-12
    stretched = np.array([0.0, 0.0, 2.0])  # the rocker does not get there
    np.testing.assert_array_equal(closed(robot, stretched, held=("rocker_joint",)), stretched)
    np.testing.assert_array_equal(closed(ARM, ARM.neutral()), ARM.neutral())


def test_sliders_have_the_limits_of_joints():
    lower, upper = slider_limits(ARM)
    assert (lower == ARM.limits.lower).all()
    assert (upper == ARM.limits.upper).all()
    lower, upper = slider_limits(kt.robots.quadruped())
    assert (upper > lower).all()
    assert np.isfinite([lower, upper]).all()


def test_a_trajectory_without_velocities_has_those_of_its_differences():
    q = np.linspace(ARM.neutral(), ARM.random(0), 11)
    path = Trajectory(ARM, {"q": q, "times": 2.0 + np.arange(11) / 10})
    shown, v = path.at(0.25)
    assert path.end == pytest.approx(1.0)
    assert np.allclose(shown, ARM.random(0) * 0.25)
    assert np.allclose(v, ARM.random(0))
    given = Trajectory(ARM, {"q": q, "v": np.full((11, 7), 3.0)})
    assert (given.at(0.03)[1] == 3.0).all()


def test_a_spring_pulls_a_link_to_the_pointer_and_turns_it_about_the_point_that_is_held():
    begun = []
    pull = Pull(None, ARM, lambda: begun.append(True))
    q, v, link = ARM.random(1), np.zeros(7), ARM.bodies[4]
    assert pull.external(q, v) is None
    pose = ARM.pose(q, link)
    point = pose[:3, :3] @ [0.0, 0.05, 0.1] + pose[:3, 3]
    pull.take(link, q, point)
    assert begun
    assert np.allclose(pull.external(q, v)[link], 0.0, atol=1e-12)
    pull.to(point + np.array([0.2, 0.0, 0.0]))
    wrench = pull.external(q, v)[link]
    force = pose[:3, :3] @ wrench[:3]
    assert force[0] > 0.0
    assert np.allclose(force[1:], 0.0, atol=1e-9)
    assert np.allclose(wrench[3:], np.cross([0.0, 0.05, 0.1], wrench[:3]))
    moving = pull.external(q, ARM.random(2))[link]
    assert not np.allclose(moving, wrench)
    pull.release()
    assert pull.external(q, v) is None


def test_a_trajectory_of_another_robot_is_refused(tmp_path):
    with pytest.raises(KinetreeError, match=r"\(T, 7\) is expected"):
        Trajectory(ARM, {"q": np.zeros((4, 3))})
    np.savez(tmp_path / "a.npz", x=np.zeros(3))
    with pytest.raises(KinetreeError, match="array 'q' is missing"):
        load_trajectory(tmp_path / "a.npz")
    result = invoke("show", "arm", "--trajectory", str(tmp_path / "missing.npz"))
    assert result.exit_code == 1
    assert "there is no such file" in result.output


@pytest.fixture
def viewer():
    pytest.importorskip("viser")
    motion = {"q": np.linspace(ARM.neutral(), ARM.random(0), 11), "times": np.arange(11) / 10}
    shown = Viewer(ARM, motion, port=8270, run=False)
    yield shown
    shown.close()


@pytest.mark.filterwarnings("ignore")
def test_a_trajectory_plays_and_a_simulation_falls(viewer):
    viewer.tick(0.25)
    assert np.allclose(viewer.q, ARM.random(0) * 0.25)
    assert np.allclose(viewer.v, ARM.random(0))
    assert viewer._sliders.handles[2].value == pytest.approx(viewer.q[2])
    times, kinetic, potential, total = viewer._energy.plot.data
    assert times[-1] == pytest.approx(0.25, abs=2e-3)
    assert kinetic[-1] == pytest.approx(ARM.kinetic_energy(viewer.q, viewer.v))
    assert potential[-1] + kinetic[-1] == pytest.approx(total[-1])
    viewer._playing.value = False
    viewer._simulate.value, viewer._damping.value = True, 0.0
    viewer.set(ARM.neutral() + 0.3)
    before = ARM.potential_energy(viewer.q)
    for _ in range(4):
        viewer.tick(0.02)
    total = ARM.kinetic_energy(viewer.q, viewer.v) + ARM.potential_energy(viewer.q)
    assert ARM.kinetic_energy(viewer.q, viewer.v) > 0.0
    assert total == pytest.approx(before, rel=1e-2)


@pytest.mark.filterwarnings("ignore")
def test_a_link_that_is_pulled_follows(viewer):
    link = ARM.bodies[-1]
    viewer._damping.value = 1.0
    viewer.set(ARM.neutral() + 0.3)
    start = ARM.pose(viewer.q, link)[:3, 3]
    viewer._pull.take(link, viewer.q, start)
    assert viewer._simulate.value
    assert not viewer._playing.value
    target = start + np.array([0.0, 0.3, 0.0])
    viewer._pull.to(target)
    for _ in range(40):
        viewer.tick(0.04)
    held = ARM.pose(viewer.q, link)[:3, 3]
    assert np.linalg.norm(held - target) < 0.7 * np.linalg.norm(start - target)


@pytest.mark.filterwarnings("ignore")
def test_a_slider_moves_the_robot_and_the_numbers_are_those_of_the_api(viewer):
    viewer._playing.value = False
    viewer.layer("torques")
    assert "torques" not in viewer.scene._hidden
    with pytest.raises(KinetreeError, match="valid are 'surfaces'"):
        viewer.layer("shadows")
    viewer._sliders.handles[1].value = 0.7
    viewer._from_sliders(SimpleNamespace(client=object(), target=viewer._sliders.handles[1]))
    viewer.tick(0.0)
    assert viewer.q[1] == pytest.approx(0.7)
    for name, torque in zip(ARM.labels.v, ARM.gravity_forces(viewer.q), strict=True):
        assert f"| {name} | {torque:.3f} | N m |" in viewer._text.content
    assert viewer.url.startswith("http://127.0.0.1:")
    assert viewer.url in repr(viewer)


@pytest.mark.filterwarnings("ignore")
def test_what_needs_a_browser_says_so(viewer, tmp_path):
    for call in (viewer.screenshot, lambda: viewer.video(tmp_path / "a.gif")):
        with pytest.raises(KinetreeError, match="open http"):
            call()
    with pytest.raises(KinetreeError, match=r"ends with \.gif or \.mp4"):
        viewer.video(tmp_path / "a.avi")
    with pytest.raises(KinetreeError, match="link 'elbow'"):
        viewer.select("elbow")


@pytest.mark.filterwarnings("ignore")
def test_a_state_that_is_not_finite_is_refused_and_the_viewer_goes_on():
    pytest.importorskip("viser")
    shown = Viewer(ARM, port=8275)
    try:
        for wrong in (np.full(7, np.nan), np.full(7, np.inf), np.zeros((2, 7)), "text", None):
            with pytest.raises(KinetreeError, match=r"^q "):
                shown.set(wrong)
        with pytest.raises(StateError, match="v must be finite"):
            shown.set(ARM.neutral(), np.full(7, np.nan))
        shown.q = np.full(7, np.nan)  # as a simulation may leave it
        shown._changed = True
        eventually(lambda: not shown._changed)
        shown.set(ARM.random(0))
        eventually(
            lambda: shown._sliders.handles[0].value == pytest.approx(ARM.random(0)[0], abs=1e-2)
        )
    finally:
        shown.close()


@pytest.mark.filterwarnings("ignore")
def test_whatever_is_raised_while_it_moves_is_said_on_the_page(viewer, monkeypatch):
    def fail(passed):
        viewer._running = False
        raise ArithmeticError("<b>too far</b>")

    monkeypatch.setattr(viewer, "tick", fail)
    viewer._simulate.value = viewer._running = True
    viewer._loop()
    assert not viewer._simulate.value
    assert not viewer._playing.value
    assert viewer._link.content.startswith("Stopped: &#60;b&#62;too far")


def test_a_trajectory_that_diverges_is_shown_until_then():
    q = np.tile(ARM.random(0), (11, 1))
    q[6:] = np.nan
    with pytest.warns(SimulationWarning, match=r"not finite after 0\.06 s"):
        path = Trajectory(ARM, {"q": q, "v": np.zeros((11, 7))})
    assert path.end == pytest.approx(0.05)
    assert np.isfinite(path.at(1.0)[0]).all()
    with pytest.raises(KinetreeError, match="first state is not finite"):
        Trajectory(ARM, {"q": np.full((3, 7), np.nan)})
    for wrong in ({}, None, {"q": "text"}, {"q": [[None] * 7]}, {"q": q, "times": [np.nan] * 11}):
        with pytest.raises(KinetreeError):
            Trajectory(ARM, wrong)


def test_an_address_of_another_computer_is_refused():
    pytest.importorskip("viser")
    for host in ("nowhere.invalid", "192.0.2.1"):
        with pytest.raises(KinetreeError, match=f"host '{host}' is not an address"):
            Viewer(ARM, host=host)


def test_a_click_on_a_joint_plots_its_force_over_the_time_of_a_trajectory(viewer):
    viewer.select("link2")
    times, force = viewer._forces._plot.data
    recorded, forces = viewer._path.forces()
    assert np.array_equal(times, recorded)
    assert np.array_equal(force, forces[:, 1])
    assert viewer._forces._folder.visible
    assert {body for body, _ in viewer.scene.joint_axes} == set(ARM.bodies)


def test_forces_of_a_trajectory_without_them_are_those_of_inverse_dynamics():
    times = np.linspace(0.0, 1.0, 201)
    q = np.sin(np.outer(times, np.arange(1, 8)))
    v = np.arange(1, 8) * np.cos(np.outer(times, np.arange(1, 8)))
    a = -(np.arange(1, 8) ** 2) * q
    found, forces = Trajectory(ARM, {"times": times, "q": q, "v": v}).forces()
    exact = ARM.inverse_dynamics(q, v, a)
    assert np.array_equal(found, times)
    assert np.abs(forces - exact)[2:-2].max() < 1e-3 * np.abs(exact).max()
    given = Trajectory(ARM, {"times": times, "q": q, "tau": q}).forces()[1]
    assert np.array_equal(given, q)


@pytest.mark.filterwarnings("ignore")
def test_a_simulation_stops_at_limits_and_plots_forces_as_it_goes():
    limited = kt.Assembly("pendulum")
    turning = kt.joints.Revolute("y")
    limited.add("rod", "base", turning, mass=1.0, com=(0.0, 0.0, 0.5), limits=(-0.4, 0.4))
    viewer = Viewer(limited.robot(), port=8340, run=False)
    try:
        viewer.set([0.1])
        viewer.select("rod")
        assert not viewer._forces._folder.visible
        viewer._simulate.value = True
        for _ in range(60):
            viewer._numbers_at = 0.0
            viewer.tick(0.04)
        assert viewer.q[0] == pytest.approx(0.4)
        times, _ = viewer._forces._plot.data
        assert len(times) > 30
        assert (np.diff(times) > 0).all()
    finally:
        viewer.close()


def test_a_notebook_shows_the_page_once_under_each_cell(viewer, monkeypatch):
    shown = []
    monkeypatch.setattr(notebook, "display", shown.append)
    viewer._ipython_display_()  # outside of notebooks
    assert not shown
    for number, count in ((1, 1), (1, 1), (2, 2)):
        monkeypatch.setattr(notebook, "cell", lambda number=number: number)
        viewer._ipython_display_()
        assert len(shown) == count
    assert viewer._key in shown[0]
    assert viewer.url in shown[0]


DRIVEN = """<mujoco><worldbody><body><joint name="j" axis="0 1 0" damping="1"/>
<geom size="0.1" pos="0 0 -0.5" mass="1"/></body></worldbody><actuator>
<motor name="motor" joint="j" ctrlrange="-2 8"/>
<general name="slow" joint="j" dyntype="filter" dynprm="0.0001" gainprm="5"/></actuator></mujoco>"""


@pytest.mark.filterwarnings("ignore")
def test_sliders_of_controls_drive_a_simulation():
    pytest.importorskip("viser")
    pytest.importorskip("mujoco")
    viewer = Viewer(kt.load(DRIVEN, contact=False), port=8297, run=False)
    try:
        motor, slow = viewer._live.controls.handles
        assert (motor.min, motor.max, slow.min, slow.max) == (-2.0, 8.0, -1.0, 1.0)
        viewer._damping.value = 0.0
        viewer._simulate.value = True
        viewer.tick(0.05)
        assert abs(viewer.q[0]) < 1e-12  # nothing drives it
        motor.value, slow.value = 1.0, 0.5
        for _ in range(200):
            viewer.tick(0.05)
        # where motor and filter hold the weight: m g l sin q = 1 + 5 * 0.5
        assert viewer._live.controls.act == pytest.approx([0.5])
        assert 9.81 * 0.5 * np.sin(viewer.q[0]) == pytest.approx(3.5, abs=1e-3)
        viewer.set(viewer.q)
        assert not viewer._live.controls.act.any()
    finally:
        viewer.close()
