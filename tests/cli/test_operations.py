"""kinetree ops, and the page that shows its counts."""

import re
from pathlib import Path

import pytest

import kinetree as kt
from kinetree.cli.operations import counts
from tests.cli.test_app import invoke

PAGE = Path(__file__).parents[2] / "docs/operations.md"


@pytest.fixture(scope="module")
def arm_counts():
    return {(c.quantity, c.method): c for c in counts(kt.robots.arm())}


def test_the_table_lists_every_way_of_a_built_in_robot(arm_counts):
    result = invoke("ops", "arm")
    assert result.exit_code == 0, result.output
    for method in ("balafoutis-patel", "rnea", "liu-jain", "aba", "crba", "ltl"):
        assert method in result.output
    c = arm_counts["inverse_dynamics", "balafoutis-patel"]
    assert re.search(rf"balafoutis-patel\W+{c.multiplications}\W+{c.additions}\W", result.output)


def test_the_table_in_markdown_of_a_file(tmp_path):
    kt.robots.cart_pole().save(tmp_path / "cart.urdf")
    result = invoke("ops", str(tmp_path / "cart.urdf"), "--markdown", "--all")
    assert result.exit_code == 0, result.output
    assert "| mass_matrix | lagrange |" in result.output


def test_a_robot_that_is_none_is_an_error():
    result = invoke("ops", "nobody")
    assert result.exit_code == 1
    assert "there is no such file" in result.output


def test_tensors_take_the_least_arithmetic(arm_counts):
    ways = {m: c for (quantity, m), c in arm_counts.items() if quantity == "inverse_dynamics"}
    least = min(ways, key=lambda m: ways[m].total)
    assert least == "balafoutis-patel"


def test_tensors_take_the_least_arithmetic_on_every_robot_of_the_page():
    rows = re.findall(r"^\| inverse_dynamics, ([\w-]+) \|(.*)\|$", PAGE.read_text(), re.MULTILINE)
    totals = {m: [sum(map(int, c.split("+"))) for c in cells.split("|")] for m, cells in rows}
    tensors = totals.pop("balafoutis-patel")
    assert sorted(totals) == ["liu-jain", "rnea"]
    for others in totals.values():
        assert len(others) == len(tensors) == 4
        assert all(ours < theirs for ours, theirs in zip(tensors, others, strict=True))


def test_the_page_shows_what_is_counted(arm_counts):
    rows = re.findall(r"^\| (\w+)(?:, ([\w-]+))? \|(.*)\|$", PAGE.read_text(), re.MULTILINE)
    shown = [row for row in rows if (row[0], row[1]) in arm_counts]
    assert len(shown) > 10
    for quantity, method, cells in shown:
        c = arm_counts[quantity, method]
        assert cells.split("|")[1].strip() == f"{c.multiplications} + {c.additions}"
