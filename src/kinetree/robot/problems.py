"""Everything wrong or doubtful about a robot, whether it comes from a file or from Python.

`model.lint` looks at links and joints one by one, `quantities.posedness` and `quantities.mobility`
at the mechanism.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from kinetree.errors import ModelWarning
from kinetree.model import Model
from kinetree.model.description import Description
from kinetree.model.lint import description_problems, model_problems
from kinetree.model.problem import SEVERITIES, Problem
from kinetree.quantities.mobility import constraint_problems
from kinetree.quantities.posedness import findings, neutral_findings


def problems_of_model(model: Model) -> list[Problem]:
    """The problems of a model: its bodies, its joints, the mechanism as a whole."""
    return [*model_problems(model), *_mechanism(model, {})]


def problems_of_description(
    description: Description, model: Model, notes: bool = True
) -> list[Problem]:
    """The problems of a file's links and joints, with their places in the file, and of the whole.

    Arguments:
        model: what the description was assembled to.
        notes: whether notes are wanted, too.
    """
    found = [*description_problems(description), *problems_of_mechanism(description, model, notes)]
    return [problem for problem in found if notes or problem.severity != "note"]


def problems_of_mechanism(
    description: Description, model: Model, notes: bool = True
) -> list[Problem]:
    """The problems of a file's mechanism as a whole; the arguments are as above."""
    where = {c.name: c.where for c in description.connections}
    return list(_mechanism(model, where, notes))


def warn_of_problems(description: Description, model: Model, stacklevel: int) -> None:
    """Issue one ModelWarning for all errors and warnings, the worst first; notes are left out."""
    problems = problems_of_description(description, model, notes=False)
    if problems:
        problems.sort(key=lambda problem: SEVERITIES.index(problem.severity))
        more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
        message = f"{problems[0]}{more} ('kinetree check' lists everything)"
        warnings.warn(message, ModelWarning, stacklevel=stacklevel)


def _mechanism(model: Model, where: dict[str, str], notes: bool = True) -> Iterator[Problem]:
    """Joints whose accelerations forces do not determine, or only barely; doubtful constraints.

    Arguments:
        where: maps joints' names to their places in the file.
    """
    for finding in (*findings(model), *(neutral_findings(model) if notes else ())):
        place = where.get(finding.joint, "")
        yield Problem(finding.severity, f"joint {finding.joint!r}", finding.message, place)
    if model.constraints:
        yield from constraint_problems(model, notes)
