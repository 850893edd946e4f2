"""Citations: every quantity and method has its sources, and they are those its file names."""

import re
import sys

import pytest

import kinetree as kt
from kinetree.quantities import QUANTITIES, Method
from kinetree.quantities.citations import SOURCES, bibtex

CITED = {
    (quantity, method): how.sources
    for quantity, row in QUANTITIES.items()
    for method, how in row.methods.items()
}
PAIRS = list(CITED)
ARM = kt.robots.arm()


def test_every_method_names_its_sources():
    assert all(CITED.values())


def test_every_source_is_used_and_none_is_missing():
    assert {key for keys in CITED.values() for key in keys} == set(SOURCES)


@pytest.mark.parametrize(("quantity", "method"), PAIRS)
def test_a_citation_is_bibtex(quantity, method):
    text = ARM.citation(quantity, method)
    assert text.startswith("@")
    assert text.count("@") == text.count("  author ") == len(CITED[quantity, method])


def own_files() -> list[tuple[str, str, str]]:
    """The quantities and methods whose algorithm is a function of one file, and its docstring."""
    found = []
    for quantity, method in PAIRS:
        how = QUANTITIES[quantity].methods[method]
        module = how.algorithm.__module__ if isinstance(how, Method) else ""
        if module.startswith("kinetree.algorithms") and module != "kinetree.algorithms.frames":
            found.append((quantity, method, sys.modules[module].__doc__ or ""))
    return found


@pytest.mark.parametrize(("quantity", "method", "text"), own_files(), ids=lambda x: str(x)[:30])
def test_the_file_of_an_algorithm_names_an_author_who_is_cited(quantity, method, text):
    authors = re.findall(r"author +=.*?[{ ]([\w ]+),", ARM.citation(quantity, method))
    assert authors
    named = text.replace("Lecture 9", "Lecture 9 Zhang")
    assert any(author.strip() in named for author in authors), authors


@pytest.mark.parametrize(
    ("quantity", "method", "source"),
    [
        ("poses", "auto", "liu2012"),
        ("velocity", "auto", "zhang_lecture9"),
        ("acceleration_derivatives", "auto", "zhang_lecture9"),
        ("integrate", "auto", "lynch2017"),
        ("kinetic_energy", "auto", "liu2012"),
        ("inverse_dynamics", "auto", "balafoutis1991"),
        ("inverse_dynamics", "rnea", "zhang_lecture9"),
        ("mass_matrix", "rnea", "zhang_lecture9"),
        ("mass_matrix_inverse", "aba", "hal-01790934"),
        ("momentum_observer", "auto", "deluca2003"),
    ],
)
def test_a_quantity_is_cited_with_its_source(quantity, method, source):
    assert source in ARM.citation(quantity, method)


def test_the_cheapest_method_is_the_one_that_is_cited():
    taken = ARM.kernel("inverse_dynamics_derivatives").method
    sources = CITED["inverse_dynamics_derivatives", taken]
    assert ARM.citation("inverse_dynamics_derivatives") == bibtex(sources)


def test_an_unknown_quantity_is_an_error():
    with pytest.raises(kt.errors.UnknownNameError, match="did you mean 'mass_matrix'"):
        ARM.citation("mass_matrx")
