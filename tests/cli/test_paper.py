"""The paper's tables: what they rest on, and what the page says of them."""

from pathlib import Path

import numpy as np
import pytest
import sympy

import kinetree as kt
from kinetree.cli import paper, paper_symbols, paper_text
from tests.cli.test_app import invoke

PAGE = Path(__file__).parents[2] / "docs/paper/README.md"


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n"), list(enumerate(paper.BODIES)))
def test_residuals_are_no_larger_than_the_papers(k, n):
    for ours, theirs in zip(
        paper.residuals(kt.robots.chain(n)), paper.TABLE_1.values(), strict=True
    ):
        assert ours <= theirs[k]


@pytest.mark.slow
@pytest.mark.parametrize("branching", [1, 2])
def test_partials_of_the_mass_matrix_are_the_symbols_of_algorithm_2(branching):
    model, q = paper_symbols.planar_tree(4, branching), list(sympy.symbols("q1:5"))
    one, two = (way(model, q) for way in paper_symbols.WAYS.values())
    at = dict(zip(q, (0.3, -0.7, 1.1, 0.4), strict=True))
    for a, b in zip(sympy.flatten(one), sympy.flatten(two), strict=True):
        assert abs(float((a - b).subs(at) if a != b else 0.0)) < 1e-13


def test_operations_written_out_are_counted_as_often_as_they_stand_there():
    x, y = sympy.symbols("x y")
    part = x + y
    assert paper_symbols.written_out(x, {}) == 0
    assert paper_symbols.written_out(sympy.sin(x), {}) == 1
    assert paper_symbols.written_out(part * sympy.sin(part), {}) == 4
    assert paper_symbols.written_out(x + y + 1, {}) == 2


def test_an_exponent_is_that_of_a_power():
    assert paper.exponent((1, 2, 4), [3.0, 24.0, 192.0]) == pytest.approx(3.0)


def test_the_operations_of_serial_chains_are_polynomials_of_the_papers_orders():
    sizes = (5, 6, 8, 10, 12, 14)
    made = [kt.robots.chain(n) for n in sizes]
    C = [paper.operation_count(robot, paper._coriolis, 2) for robot in made]
    fit = np.polyfit(sizes, C, 2)
    assert np.polyval(fit, sizes) == pytest.approx(C, abs=1e-6)
    assert fit[0] == pytest.approx(14.0)
    assert f"{fit[0]:.0f} N² + {fit[1]:.0f} N − {-fit[2]:.0f}" in PAGE.read_text()
    assert fit[1] / fit[0] > 20, "the linear term is the larger one at every size of the figures"


def test_limbs_stand_on_fixed_and_on_floating_bases():
    degrees = {name: robot.nv for name, robot in paper.mechanisms().items()}
    assert degrees["biped, floating base (6 + 20)"] == degrees["biped, fixed base (20)"] + 6 == 26
    assert set(paper.TABLE_2) <= set(degrees)
    assert all(f"| {name} |" in PAGE.read_text() for name in degrees)


def test_the_page_says_where_it_differs_from_the_paper():
    text = " ".join(PAGE.read_text().split())
    for said in (
        "The paper concludes that Algorithm 2 is the better way to closed forms",
        "with SymPy's cache",
        "The paper reports O(N²) for C and O(N³) for Γ",
        "The exponents fitted here are lower",
    ):
        assert said in text


def unwrapped(text):
    return " ".join(text.split())


def closed_forms(cached, bare):
    return unwrapped(paper_text.closed_forms((5, 10, 15), (1.3, 2.5, 4.6), cached, bare, 6.1))


def test_the_text_of_table_3_follows_from_its_figures():
    text = closed_forms(cached=(0.5, 0.6, 0.7), bare=(0.7, 1.9, 3.0))
    assert "0.5, 0.6 and 0.7 times as long with 5, 10 and 15 bodies" in text
    slower = "Algorithm 2 gains with the number of bodies, but with 15 it is the slower one, unlike"
    assert slower in text.partition("Without it")[0]
    faster = "Algorithm 2 gains with the number of bodies, and with 15 it is the faster one, as in"
    assert faster in text.partition("Without it")[2]
    assert "The cache favours the partials" in text
    text = closed_forms(cached=(1.0, 0.9, 0.7), bare=(0.9, 0.8, 0.7))
    assert "as in the paper" not in text
    assert text.count("does not gain with the number of bodies, and with 15 it is the slower") == 2
    assert "The cache favours" not in text
    assert "it is as fast, unlike" in closed_forms(cached=(0.7, 0.9, 1.0), bare=(1.0, 2.0, 3.0))


def test_the_text_of_serial_chains_follows_from_its_figures():
    faster = unwrapped(paper_text.serial_chains(10, 8.85, 0.96, 12_909_017))
    assert "the faster one for 10 bodies, 0.96 s against 8.85 s, unlike" in faster
    slower = unwrapped(paper_text.serial_chains(10, 1.0, 9.0, 12_909_017))
    assert "the slower one for 10 bodies, 9.00 s against 1.00 s, as in the paper" in slower


def test_the_text_of_table_2_follows_from_its_figures():
    times = {
        "serial chain (20)": (2.0, 6.0),
        "branched mechanism (20)": (1.0, 3.0),
        "biped, floating base (6 + 20)": (2.0, 6.0),
        "quadruped, floating base (6 + 20)": (3.0, 4.0),
    }
    text = unwrapped(paper_text.mechanisms(times))
    assert "With branching, C takes 0.50 times as long and Γ 0.50 times: that saves time" in text
    assert "that saves time for Γ alone, unlike in the paper" in text
    slow = unwrapped(paper_text.mechanisms(times | {"branched mechanism (20)": (3.0, 7.0)}))
    assert "that saves no time, unlike in the paper" in slow


def test_the_texts_of_residuals_and_orders_follow_from_their_figures():
    assert "ours are smaller" in unwrapped(paper_text.residuals([[1.0, 2.0]], [[2.0, 2.0]], 10))
    larger = paper_text.residuals([[3.0, 2.0]], [[2.0, 2.0]], 10)
    assert "1 of our 2 are larger" in unwrapped(larger)
    lower = paper_text.orders((5, 20), (1.4, 2.1), 38.0, 0.5, (0.7, 2.0))
    assert "are lower for serial chains" in unwrapped(lower)
    higher = paper_text.orders((5, 20), (2.1, 3.2), 0.5, 0.01, (0.7, 2.0))
    assert "are 2.10 and 3.20" in unwrapped(higher)


def smaller(mechanisms):
    """The mechanisms of table 2 with few joints, their bases fixed or floating as before."""
    base = {name: "floating" if "floating" in name else "fixed" for name in mechanisms}
    return lambda: {name: kt.robots.legged(2, 2, base=base[name]) for name in mechanisms}


@pytest.mark.slow
def test_the_command_writes_the_page_and_says_where(tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "BODIES", (2, 3, 4))
    monkeypatch.setattr(paper, "SERIAL", (2,))
    monkeypatch.setattr(paper, "MEASURING", 0.01)
    monkeypatch.setattr(paper, "SIZES", (3, 4, 5, 6))
    monkeypatch.setattr(paper, "LIMBS", (2, 3))
    monkeypatch.setattr(paper, "mechanisms", smaller(paper.mechanisms()))
    result = invoke("paper", str(tmp_path / "new" / "page"))
    assert result.exit_code == 0, result.output
    page = tmp_path / "new" / "page" / "README.md"
    assert str(page) in result.output.replace("\n", "")
    for title in ("Table 1", "Table 2", "Table 3", "Figures 3 to 5"):
        assert f"## {title}" in page.read_text()
    assert {p.name for p in page.parent.glob("*.svg")} == {f"figure{k}.svg" for k in (3, 4, 5)}
