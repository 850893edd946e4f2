"""The notebooks are those of their pages, and a Jupyter kernel runs them from top to bottom."""

import json

import pytest
from tools.notebooks import DOCS, FOLDER, PAGES, text


@pytest.mark.parametrize("name", PAGES)
def test_a_notebook_is_that_of_its_page(name):
    written = (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
    assert written == text(DOCS / f"{name}.md"), "run python -m tools.notebooks"
    assert f"](notebooks/{name}.ipynb)" in (DOCS / f"{name}.md").read_text()


@pytest.mark.parametrize("name", PAGES)
def test_a_notebook_is_valid(name):
    found = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert {cell["cell_type"] for cell in found["cells"]} == {"markdown", "code"}
    names = [cell["id"] for cell in found["cells"]]
    assert len(set(names)) == len(names)
    for cell in found["cells"]:
        assert not cell.get("outputs")
        for line in cell["source"]:
            assert "```" not in line
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_notebook_runs_in_a_jupyter_kernel(name, tmp_path):
    pytest.importorskip("ipykernel")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    read = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    place = {"metadata": {"path": str(tmp_path)}}  # some write files
    nbclient.NotebookClient(read, timeout=300, resources=place).execute()
    counts = [cell["execution_count"] for cell in read["cells"] if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1))


def test_there_is_no_other_notebook():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == sorted(PAGES)
