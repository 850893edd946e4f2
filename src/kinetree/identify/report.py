"""A page on an identification, in Markdown or HTML."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kinetree import kinds
from kinetree.errors import KinetreeError
from kinetree.files.atomic import complete
from kinetree.identify.log import Log
from kinetree.identify.result import Identified

Table = tuple[Sequence[str], list[list[str]]]
UNITS = {
    "mass": "kg",
    "armature": "kg m² or kg",
    "damping": "N m s or N s/m",
    "friction": "N m or N",
    "stiffness": "N m or N/m",
    "offset": "N m or N",
}
"""Of parameters, of turning joints or of sliding ones."""


class Picture(NamedTuple):
    """A picture that pages in HTML have.

    title: what it shows.
    png: the content of its file.
    """

    title: str
    png: bytes


Content = str | Table | Picture

ENDINGS = (".md", ".html")
"""Of reports: Markdown and HTML."""


def report(identified: Identified, path: str | Path | None = None) -> str:
    """The page, written to a file if one is named; see `Identified.report`.

    Arguments:
        identified: what is reported.
        path: of the file: HTML if it ends in .html, Markdown if it ends in .md.
    """
    file = None if path is None else checked_ending(path)
    as_html = file is not None and file.suffix == ".html"
    text = (_html if as_html else _markdown)(list(parts(identified, as_html)))
    if file is not None:
        with complete(file) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return text


def checked_ending(path: str | Path) -> Path:
    """The path of a report, whose ending says its format."""
    file = kinds.path("path", path)
    if file.suffix not in ENDINGS:
        raise KinetreeError(f"{path}: the name of a report must end with {' or '.join(ENDINGS)}")
    return file


def parts(identified: Identified, pictures: bool) -> Iterator[tuple[str, list[Content]]]:
    """The sections: a title, then paragraphs, tables and perhaps pictures."""
    estimate, parameters = identified.estimate, identified.parameters
    yield (
        f"Identification of {identified.before.name}",
        [
            f"{len(estimate.base)} base parameters of {len(parameters.names)} parameters, from "
            f"{int(estimate.factors.rows.sum())} measurements of joint forces. "
            f"Method: {identified.method}. Condition number: {estimate.condition:.3g}. "
            f"{len(estimate.base) - len(identified.vague)} base parameters are well determined, "
            f"{len(identified.vague)} are vague.",
            _verdict(identified),
        ],
    )
    if identified.log is not None and identified.log.remarks:
        yield "What was done to the data", [f"- {remark}" for remark in identified.log.remarks]
    yield (
        "Errors of joint forces",
        [_errors(identified), *(_pictures(identified) if pictures else [])],
    )
    yield "Base parameters", [_base(identified)]
    if identified.vague:
        yield (
            "What the data say little about",
            ["Standard deviation above 30 %:", *(f"- {name}" for name in identified.vague)],
        )
    yield "Bodies", [_bodies(identified)]
    if parameters.drives:
        yield "Drives", [_drives(identified)]


def _verdict(identified: Identified) -> str:
    if identified.doubts:
        return " ".join(f"Do not use this result: {doubt}." for doubt in identified.doubts)
    if identified.impossible:
        return f"No body can have the inertia of {', '.join(identified.impossible)}."
    return "Every body's inertia is one that a body can have."


def _errors(identified: Identified) -> Table:
    """Root mean squares of the errors, before and after, fitted and not."""
    logs: dict[str, Log] = {}
    if identified.log is not None:
        logs["fitted"] = identified.log
    if identified.validation is not None:
        logs["validation"] = identified.validation
    head = ["joint", "unit", "noise"]
    columns = [identified.estimate.noise]
    for name, log in logs.items():
        before, after = identified.errors(log, identified.before), identified.errors(log)
        head += [f"{name}, before", f"{name}, after", "relative"]
        columns += [before.rms, after.rms, 100.0 * after.relative]
    rows = [
        [
            joint,
            "N m" if unit.startswith("rad") else "N",
            *(f"{x:.4g} %" if head[j] == "relative" else f"{x:.4g}" for j, x in enumerate(row, 2)),
        ]
        for joint, unit, row in zip(
            identified.before.labels.v,
            identified.before.labels.v_units,
            np.transpose(columns),
            strict=True,
        )
    ]
    return head, rows


def _base(identified: Identified) -> Table:
    estimate = identified.estimate
    new = estimate.base.of(identified.theta)
    columns = zip(
        estimate.base.names,
        estimate.base.values,
        estimate.values,
        estimate.deviations,
        new,
        strict=True,
    )
    rows = [[name, _unit(name), *(f"{x:.5g}" for x in numbers)] for name, *numbers in columns]
    return ["combination", "unit", "before", "least squares", "deviation", "new robot"], rows


def _unit(combination: str) -> str:
    """The unit of a combination of parameters, which is that of its first one."""
    kind = combination.split()[0].rpartition(".")[2].rpartition("*")[2]
    if kind.startswith(("h", "I")) and len(kind) in (2, 3):
        return "kg m" if kind[0] == "h" else "kg m²"
    return UNITS.get(kind, "")


def _pictures(identified: Identified) -> list[Picture]:
    """Measured and predicted forces over time, if they can be drawn."""
    drawn = identified.validation is not None or identified.log is not None
    if not drawn or find_spec("matplotlib") is None:
        return []
    file = io.BytesIO()
    identified.plot().savefig(file, format="png", dpi=110)
    return [Picture("Measured and predicted joint forces, N m or N", file.getvalue())]


def _bodies(identified: Identified) -> Table:
    count = identified.parameters.inertial_count
    old = identified.parameters.nominal[:count].reshape(-1, 10)
    new = identified.theta[:count].reshape(-1, 10)
    rows = []
    for name, a, b in zip(identified.before.bodies, old, new, strict=True):
        center = b[1:4] / b[0] if b[0] else b[1:4]
        com = ", ".join(f"{x:.4g}" for x in center)
        rows.append([name, f"{a[0]:.5g}", f"{b[0]:.5g}", com])
    return ["body", "mass before, kg", "mass, kg", "centre of mass, m"], rows


def _drives(identified: Identified) -> Table:
    parameters = identified.parameters
    bodies = identified.before.model.bodies
    pairs = zip(parameters.driven, parameters.drive_numbers(identified.theta), strict=True)
    rows = [[bodies[i].joint_name, *(f"{x:.5g}" for x in row)] for i, row in pairs]
    return ["joint", *(f"{name}, {UNITS[name]}" for name in parameters.drives)], rows


def _markdown(sections: list[tuple[str, list[Content]]]) -> str:
    lines: list[str] = []
    for k, (title, content) in enumerate(sections):
        lines += [f"{'#' if k == 0 else '##'} {title}", ""]
        for part in content:
            assert not isinstance(part, Picture)
            lines += [part] if isinstance(part, str) else _markdown_table(*part)
            lines += [""] if not (isinstance(part, str) and part.startswith("- ")) else []
        lines += [""] if lines[-1] else []
    return "\n".join(lines)


def _markdown_table(head: Sequence[str], rows: list[list[str]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|{'-|' * len(head)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def _html(sections: list[tuple[str, list[Content]]]) -> str:
    body = []
    for k, (title, content) in enumerate(sections):
        level = "h1" if k == 0 else "h2"
        body.append(f"<{level}>{html.escape(title)}</{level}>")
        for part in content:
            if isinstance(part, str):
                body.append(f"<p>{html.escape(part)}</p>")
            elif isinstance(part, Picture):
                data = base64.b64encode(part.png).decode()
                title = html.escape(part.title)
                body.append(f'<p><img alt="{title}" src="data:image/png;base64,{data}"></p>')
            else:
                head, rows = part
                body.append("<table>" + _row("th", head) + "".join(_row("td", r) for r in rows))
                body.append("</table>")
    title = html.escape(sections[0][0])
    style = "body{font:1em sans-serif}td,th{padding:0 .8em;text-align:left}"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{style}</style></head><body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _row(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(x)}</{tag}>" for x in cells) + "</tr>\n"
