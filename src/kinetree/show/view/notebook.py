"""Shows the viewer's page under a notebook's cell, also if the kernel runs on another computer.

The page of a notebook on this computer opens the viewer's own address. A notebook server elsewhere
forwards requests, if jupyter-server-proxy is installed there: BASE/proxy/PORT/. The browser's name
for that server is unknown here, so the address contains a key instead, which only the notebook has
(visitors.py).
"""

from __future__ import annotations

import json
import secrets
import sys
from typing import Any

HEIGHT = 560
"""The height of the page, pixels."""
SCRIPT = """
(async () => {
  const frame = document.getElementById(%(name)s), port = %(port)d;
  const settings = document.getElementById("jupyter-config-data");
  const base = settings ? JSON.parse(settings.textContent).baseUrl : document.body.dataset.baseUrl;
  const near = ["localhost", "127.0.0.1", "[::1]", ""].includes(location.hostname);
  const say = (text) => frame.insertAdjacentText("afterend", text);
  if (base) {
    const passed = base.replace(/\\/?$/, "/") + "proxy/" + port + "/" + %(key)s + "/";
    try {
      if ((await fetch(passed)).ok) { frame.src = passed; return; }
    } catch (error) {}
    if (!near) say("The kernel runs on another computer, and its notebook server does not pass " +
      "the viewer on: install jupyter-server-proxy there, or use kinetree.plot.picture.");
  }
  frame.src = %(url)s;
})();
"""


def page(url: str, port: int, key: str) -> str:
    """The HTML of a cell's output with the viewer.

    Arguments:
        url: the viewer's address on this computer.
        port: on which it listens.
        key: a part of the address if it is reached through a notebook server.
    """
    name = f"kinetree-{secrets.token_hex(8)}"  # unique under each cell
    words = {"name": json.dumps(name), "port": port, "key": json.dumps(key), "url": json.dumps(url)}
    style = "border:0;width:100%"
    return (
        f'<iframe id="{name}" height="{HEIGHT}" style="{style}"></iframe>'
        f"<script>{SCRIPT % words}</script>"
    )


def cell() -> int | None:
    """The number of the running cell; None outside of notebooks."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell.execution_count if hasattr(shell, "kernel") else None


def display(text: str) -> None:
    """Show HTML under the cell that runs.

    Arguments:
        text: of the page.
    """
    from IPython.display import display_html

    display_html(text, raw=True)
