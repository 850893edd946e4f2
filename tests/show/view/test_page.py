"""The viewer's page in a browser: a user's mouse and keys, and the pixels that come of them."""

import io
import os
import shutil
import time

import numpy as np
import pytest

import kinetree as kt
from kinetree.show.view.surroundings import FROM, VIEW
from kinetree.show.view.viewer import Viewer

ARM = kt.robots.arm()
BROWSER = os.environ.get("KINETREE_BROWSER") or shutil.which("chromium") or shutil.which("chrome")
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PATIENCE = 60_000
"""How long the page may take, ms: the processor renders, and may be busy."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(
        BROWSER is None, reason="no browser: install chromium, or name one by KINETREE_BROWSER"
    ),
]


@pytest.fixture(scope="module")
def shown():
    """An arm in the viewer, and the page of a browser that shows it."""
    pytest.importorskip("viser")
    playwright = pytest.importorskip("playwright.sync_api")
    viewer = Viewer(ARM, port=8290)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        page = browser.new_page(viewport={"width": 1000, "height": 700})
        page.set_default_timeout(PATIENCE)
        page.goto(viewer.url)
        page.get_by_text("joint7, rad").wait_for()
        yield viewer, page
        browser.close()
    viewer.close()


@pytest.fixture(autouse=True)
def neutral(shown):
    viewer, _ = shown
    viewer._simulate.value = False
    viewer.set(ARM.neutral())


def scene_pixels(page):
    """The pixels of the scene, when they do not change any more."""
    from PIL import Image

    last = None
    for _ in range(30):
        time.sleep(0.4)
        picture = np.array(Image.open(io.BytesIO(page.screenshot())))[:, :600, :3]
        if last is not None and (picture == last).all():
            return picture
        last = picture
    return last


def pixel(viewer, page, point):
    """Where the page shows a point of the world, (x, y)."""
    low, high = viewer.scene.bounds(viewer._neutral)
    back = FROM / np.linalg.norm(FROM)
    eye = (low + high) / 2 + back * 1.05 * np.linalg.norm(high - low) / 2 / np.sin(VIEW / 2)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    seen = np.array([right, np.cross(back, right), back]) @ (point - eye)
    canvas = page.locator("canvas").first.bounding_box()
    scale = canvas["height"] / 2 / np.tan(VIEW / 2)
    x, y = seen[:2] / -seen[2] * scale
    return canvas["x"] + canvas["width"] / 2 + x, canvas["y"] + canvas["height"] / 2 - y


def center_of(k):
    """The centre of mass of a body in the world at the neutral configuration."""
    place, _ = ARM.model.bodies[k].inertia.center_and_rotational()
    return (ARM.poses(ARM.neutral())[k] @ [*(float(x) for x in place), 1.0])[:3]


def eventually(condition):
    """Wait until a condition holds."""
    until = time.monotonic() + PATIENCE / 1000
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_the_page_shows_the_robot(shown):
    _, page = shown
    picture = scene_pixels(page)
    dark = picture[..., :3].max(axis=-1) < 140  # its joints; the background is white
    assert dark.mean() > 0.002


def test_a_slider_moves_the_robot_and_the_numbers_equal_those_of_the_api(shown):
    viewer, page = shown
    before = scene_pixels(page)
    page.get_by_role("slider").nth(1).press("End")
    eventually(lambda: viewer.q[1] > ARM.limits.upper[1] - 0.01)
    assert (scene_pixels(page) != before).any(axis=-1).mean() > 0.003
    page.get_by_role("tab", name="Numbers").click()
    for torque in ARM.gravity_forces(viewer.q)[1:3]:
        page.get_by_text(f"{torque:.3f}", exact=True).first.wait_for()
    center = ", ".join(f"{x:.3f}" for x in ARM.center_of_mass(viewer.q))
    page.get_by_text(f"centre of mass ({center}) m").wait_for()
    page.get_by_role("tab", name="Joints").click()


def test_a_click_on_a_link_shows_its_numbers(shown):
    viewer, page = shown
    for k in (2, 4):
        scene_pixels(page)
        page.mouse.click(*pixel(viewer, page, center_of(k)))
        page.get_by_text(f"{ARM.bodies[k]}, moved by joint{k + 1}").wait_for()
        mass = float(ARM.model.bodies[k].inertia.mass)
        page.get_by_text(f"mass {mass:.3f} kg").wait_for()


def test_a_link_follows_the_mouse_that_pulls_it(shown):
    viewer, page = shown
    scene_pixels(page)
    start = ARM.pose(ARM.neutral(), ARM.bodies[-1])[:3, 3]
    x, y = pixel(viewer, page, center_of(5))
    right = np.cross([0.0, 0.0, 1.0], FROM)
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(10):
        page.mouse.move(x + 15 * k, y)
        time.sleep(0.05)
    eventually(lambda: viewer._simulate.value)
    eventually(lambda: (ARM.pose(viewer.q, ARM.bodies[-1])[:3, 3] - start) @ right > 0.05)
    page.mouse.up()
    eventually(lambda: viewer._pull.external(viewer.q, viewer.v) is None)


def test_a_screenshot_has_the_pixels_of_the_robot(shown):
    viewer, _ = shown
    picture = viewer.screenshot(320, 200, timeout=PATIENCE / 1000)
    assert picture.shape == (200, 320, 3)
    assert picture.std() > 5.0


def test_a_video_of_a_falling_arm_has_different_pictures(shown, tmp_path):
    import imageio.v3

    viewer, _ = shown
    viewer.set(ARM.neutral() + 0.5)
    viewer.video(tmp_path / "fall.gif", fps=5, width=240, height=160, seconds=0.8)
    pictures = imageio.v3.imread(tmp_path / "fall.gif", index=None)
    assert pictures.shape[:3] == (4, 160, 240)
    assert len({picture.tobytes() for picture in pictures}) == 4
