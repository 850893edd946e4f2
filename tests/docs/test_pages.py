"""The code in the documentation runs as it is printed."""

import json
import re
from pathlib import Path

import pytest

from tests.marks import slow_if

ROOT = Path(__file__).parents[2]
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if "```python" in page.read_text()
]

SLOW = {"bvh", "cartesian", "derivatives", "identification", "jax", "motion", "mpc", "native"}
SLOW |= {"mechanism_human", "mechanism_quadruped", "torch", "tutorial", "viewer"}
"""Pages whose code takes seconds."""
NEEDS = {
    "casadi": "casadi",
    "dask": "dask",
    "dart": "dartpy",
    "drake": "pydrake",
    "gpu": "cupy",
    "jax": "jax",
    "native": "scipy",
    "torch": "torch",
}
"""Pages whose code needs a package that may be missing."""


def code_of(page):
    """The code of a page, or of its notebook if it has one, which is the same."""
    notebook = ROOT / "docs" / "notebooks" / f"{page.stem}.ipynb"
    if not notebook.exists():
        return re.findall(r"```python\n(.+?)```", page.read_text(), re.DOTALL)
    cells = json.loads(notebook.read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.parametrize(
    "page",
    slow_if(lambda page: page.stem in SLOW, PAGES),
    ids=lambda page: page.stem,
)
def test_the_code_on_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    if page.stem in NEEDS:
        pytest.importorskip(NEEDS[page.stem])
    monkeypatch.chdir(tmp_path)  # some write files
    known: dict = {}
    blocks = code_of(page)
    assert blocks
    for block in blocks:
        exec(compile(block, str(page), "exec"), known)


def test_these_pages_have_code():
    named = {page.stem for page in PAGES}
    assert set(NEEDS) <= named
    assert {"README", "coriolis", "dart", "derivatives", "firmware", "pinocchio"} <= named


@pytest.mark.parametrize("page", [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")], ids=str)
def test_the_links_of_a_page_lead_somewhere(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize(
    ("page", "count"), [("tutorial", 4), ("closed_chains", 7), ("own_controllers", 1)]
)
def test_the_pictures_that_a_page_draws_are_those_it_shows(page, count):
    text = (ROOT / f"docs/{page}.md").read_text()
    drawn = set(re.findall(r'savefig\("([\w.]+)"', text))
    assert len(drawn) == count
    assert drawn == set(re.findall(r"\]\(pictures/([\w.]+)\)", text))


def test_the_readme_says_what_is_not_there():
    text = (ROOT / "README.md").read_text()
    assert text.index("make demo") < text.index("## Use") < text.index("## What it does not do")
    assert "pip install kinetree" not in text


def test_the_extras_that_files_name_exist():
    listed = (ROOT / "pyproject.toml").read_text().partition("[project.optional-dependencies]")[2]
    extras = set(re.findall(r"^(\w+) = \[", listed.partition("\n\n")[0], re.MULTILINE))
    texts = [ROOT / "README.md", ROOT / "Makefile", ROOT / ".github/workflows/ci.yml"]
    texts += [*(ROOT / "docs").glob("*.md"), *(ROOT / "tools").glob("*.sh")]
    installed = re.compile(r"(?:\.|kinetree|whl\"?)\[([a-z,]+)\]")
    named = {
        extra
        for path in texts
        for found in installed.findall(path.read_text())
        for extra in found.split(",")
    }
    assert {"cli", "view", "files"} <= named <= extras
