"""`kinetree compile` and `kinetree cache`: machine code made ahead, kept, and shipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kinetree.cli.choices import ACTIONS
from kinetree.cli.options import check_settings
from kinetree.compiler.runtime import cache
from kinetree.errors import KinetreeError, unknown
from kinetree.quantities import PUBLIC, QUANTITIES
from kinetree.robot import Robot


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
            accepted = {k: v for k, v in settings.items() if k in QUANTITIES[quantity].settings}
            for dtype in dtypes:
                bar.update(task, description=f"{quantity}, {dtype}")
                robot.kernel(quantity, method, **accepted).compile(dtype)
                bar.advance(task)
        bar.update(task, description=f"{robot.name}: done")


def cache_summary(action: str, file: Path | None) -> dict[str, Any]:
    """Show, export, import or clear the cache; what came of it, as values that JSON has.

    Arguments:
        action: one of ACTIONS.
        file: to export to or to import from.
    """
    if action not in ACTIONS:
        raise unknown("action", action, ACTIONS, "kinetree cache")
    if action in ("export", "import") and file is None:
        raise KinetreeError(f"kinetree cache {action} needs a file, such as kernels.zip")
    where = cache.folder()
    done = {"action": action, "folder": None if where is None else str(where)}
    if action == "export" and file is not None:
        return {**done, "entries": cache.export_to(file), "file": str(file)}
    if action == "import" and file is not None:
        return {**done, "entries": cache.import_from(file), "file": str(file)}
    if action == "clear":
        return {**done, "entries": cache.clear()}
    count, size = cache.usage()
    return {**done, "entries": count, "bytes": size, "limit": cache.limit()}


def cache_report(action: str, file: Path | None, console: Console) -> None:
    """Show, export, import or clear the cache, and say what came of it."""
    done = cache_summary(action, file)
    where, count = done["folder"], done["entries"]
    if action == "export":
        console.print(f"{count} entries written to {file}", soft_wrap=True)
    elif action == "import":
        console.print(f"{count} entries taken over into {where}", soft_wrap=True)
    elif action == "clear":
        console.print(f"{count} entries deleted")
    elif where is None:
        console.print("no cache: KINETREE_CACHE is empty, or its folder is not usable")
    else:
        size, limit = done["bytes"] / 1e6, done["limit"] / 1e6
        console.print(
            f"{where}: {count} entries, {size:.1f} MB of at most {limit:,.0f} MB", soft_wrap=True
        )
