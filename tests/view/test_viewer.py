"""The viewer: what is shown are the numbers of the API."""

import io
import os
import shutil
import time
from types import SimpleNamespace

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import KinetreeError
from kinetree.view.scene import LAYERS, Scene, quat_wxyz
from kinetree.view.viewer import Viewer, _motion, _slider_limits, load_trajectory
from tests.cli.test_app import invoke

ARM = kt.robots.arm()
BROWSER = os.environ.get("KINETREE_BROWSER") or shutil.which("chromium") or shutil.which("chrome")


class Recorder:
    """Takes the calls of viser's scene."""

    def __init__(self):
        self.nodes = {}

    def add(self, name, *arrays, **options):
        assert name not in self.nodes
        self.nodes[name] = SimpleNamespace(arrays=arrays, **options)
        return self.nodes[name]

    add_frame = add_mesh_simple = add


def test_a_scene_puts_each_body_where_the_robot_has_it():
    recorder = Recorder()
    scene = Scene(recorder, ARM)
    q = ARM.random(0)
    scene.update(q)
    for k, (name, pose) in enumerate(zip(ARM.bodies, ARM.poses(q), strict=True)):
        node = recorder.nodes[f"/robot/{k} {name}"]
        assert np.allclose(node.position, pose[:3, 3])
        assert np.allclose(node.wxyz, quat_wxyz(pose[:3, :3]))
    assert scene.surfaces["inertia"] == 7


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


def test_quaternions_turn_as_their_matrices_do():
    free = kt.robots.quadruped().random(0, 50)[:, 3:7]
    robot = kt.robots.quadruped()
    q = np.tile(robot.neutral(), (50, 1))
    q[:, 3:7] = free
    for xyzw, pose in zip(free, robot.poses(q)[:, 0], strict=True):
        wxyz = quat_wxyz(pose[:3, :3])
        assert abs(wxyz @ xyzw[[3, 0, 1, 2]]) == pytest.approx(1)


def test_sliders_have_the_limits_of_joints():
    lower, upper = _slider_limits(ARM)
    assert (lower == ARM.limits.lower).all()
    assert (upper == ARM.limits.upper).all()
    lower, upper = _slider_limits(kt.robots.quadruped())
    assert (upper > lower).all()
    assert np.isfinite([lower, upper]).all()


def test_a_trajectory_of_another_robot_is_refused(tmp_path):
    with pytest.raises(KinetreeError, match=r"\(T, 7\) is expected"):
        _motion(ARM, {"q": np.zeros((4, 3))})
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
    assert viewer._sliders[2].value == pytest.approx(viewer.q[2])
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
def test_a_slider_moves_the_robot_and_the_numbers_are_those_of_the_api(viewer):
    viewer._playing.value = False
    viewer.layer("torques")
    assert "torques" not in viewer.scene._hidden
    with pytest.raises(KinetreeError, match="valid are 'surfaces'"):
        viewer.layer("shadows")
    viewer._sliders[1].value = 0.7
    viewer._from_sliders(SimpleNamespace(client=object()))
    viewer.tick(0.0)
    assert viewer.q[1] == pytest.approx(0.7)
    for name, torque in zip(ARM.velocity_names, ARM.gravity_forces(viewer.q), strict=True):
        assert f"| {name} | {torque:.3f} |" in viewer._text.content
    assert viewer.url.startswith("http://127.0.0.1:")
    with pytest.raises(KinetreeError, match="open http"):
        viewer.screenshot()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_page_loads_and_the_picture_changes_with_the_robot():
    pytest.importorskip("viser")
    playwright = pytest.importorskip("playwright.sync_api")
    if BROWSER is None:
        pytest.skip("no browser: install chromium, or name one by KINETREE_BROWSER")
    viewer = Viewer(ARM, port=8290)
    flags = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=flags)
        page = browser.new_page(viewport={"width": 1000, "height": 700})
        page.goto(viewer.url)
        page.get_by_text("joint7, rad").wait_for(timeout=30_000)
        before = settled(page)
        viewer.set(ARM.neutral() + 0.8)
        text = f"{ARM.gravity_forces(viewer.q)[1]:.3f}"
        page.get_by_text(text, exact=True).wait_for(timeout=30_000)
        after = settled(page)
        browser.close()
    viewer.close()
    different = (before[:, :600].astype(int) != after[:, :600]).any(axis=-1)
    assert different.mean() > 0.003


def settled(page):
    """The page's pixels, when they do not change any more."""
    from PIL import Image

    last = None
    for _ in range(30):
        time.sleep(0.5)
        picture = np.array(Image.open(io.BytesIO(page.screenshot())))[..., :3]
        if last is not None and (picture == last).all():
            return picture
        last = picture
    return last
