"""`kinetree compile` and `kinetree cache`: machine code made ahead, kept, and shipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kinetree.cli.options import check_settings
from kinetree.errors import KinetreeError, unknown
from kinetree.quantities import PUBLIC, QUANTITIES
from kinetree.robot import Robot
from kinetree.runtime import cache

ACTIONS = ("show", "export", "import", "clear")


def compile_all(
    robot: Robot,
    quantities: Sequence[str],
    dtypes: Sequence[str],
    method: str,
    settings: Mapping[str, Any],
    console: Console,
) -> None:
    """Compile quantities, with a bar."""
    for quantity in quantities:
        if quantity not in PUBLIC:
            raise unknown("quantity", quantity, PUBLIC, "kinetree compile")
        check_settings(robot.model, quantity, settings)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as bar:
        task = bar.add_task("compiling", total=len(quantities) * len(dtypes))
        for quantity in quantities:
            own = {k: v for k, v in settings.items() if k in QUANTITIES[quantity].settings}
            for dtype in dtypes:
                bar.update(task, description=f"{quantity}, {dtype}")
                robot.kernel(quantity, method, **own).compile(dtype)
                bar.advance(task)
        bar.update(task, description=f"{robot.name}: done")


def cache_report(action: str, file: Path | None, console: Console) -> None:
    """Show, export, import or clear the cache."""
    if action not in ACTIONS:
        raise unknown("action", action, ACTIONS, "kinetree cache")
    if action in ("export", "import") and file is None:
        raise KinetreeError(f"kinetree cache {action} needs a file, such as kernels.zip")
    where = cache.folder()
    if action == "export" and file is not None:
        console.print(f"{cache.export_to(file)} entries written to {file}", soft_wrap=True)
    elif action == "import" and file is not None:
        console.print(f"{cache.import_from(file)} entries taken over into {where}", soft_wrap=True)
    elif action == "clear":
        console.print(f"{cache.clear()} entries deleted")
    elif where is None:
        console.print("no cache: KINETREE_CACHE is empty, or its folder is not usable")
    else:
        found = cache.entries()
        size = sum(map(len, found.values())) / 1e6
        console.print(f"{where}: {len(found)} entries, {size:.1f} MB", soft_wrap=True)
