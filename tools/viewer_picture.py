"""The README's picture: Talos in the viewer, as a browser shows it.

    python tools/viewer_picture.py docs/pictures/viewer.png

It needs the extras `view` and `test`, Playwright, and Chromium (or KINETREE_BROWSER names it).
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

import kinetree as kt

DATA = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
LEG = {"3": -0.4, "4": 0.8, "5": -0.4}
POSE = {f"leg_{side}_{k}_joint": x for side in ("left", "right") for k, x in LEG.items()}
POSE |= {"arm_left_1_joint": 0.4, "arm_left_2_joint": 0.5, "arm_left_4_joint": -1.4}
POSE |= {"arm_right_2_joint": -1.3, "arm_right_4_joint": -0.6, "torso_1_joint": 0.2}
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def main(picture: str, data: Path = DATA) -> None:
    file = data / "talos_data/robots/talos_reduced.urdf"
    robot = kt.load(file)
    viewer = robot.show()
    q = robot.neutral()
    for name, x in POSE.items():
        q[robot.labels.q.index(name)] = x
    viewer.layer("torques")
    viewer.set(q)
    browser_file = os.environ.get("KINETREE_BROWSER") or shutil.which("chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_file, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 760})
        page.goto(viewer.url)
        page.get_by_text("torso_1_joint, rad").wait_for()
        page.get_by_role("tab", name="Numbers").click()
        time.sleep(14.0)  # meshes arrive
        page.locator(".mantine-Notification-closeButton").first.click(force=True)
        time.sleep(6.0)
        page.screenshot(path=picture)
        browser.close()
    viewer.close()


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))
