"""docs/benchmarks.md is written from the results that are kept beside it."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
ROOT = Path(__file__).parents[2]
AGAIN = "run tools/benchmarks_page.py"


@pytest.fixture(scope="module")
def tool():
    path = ROOT / "tools/benchmarks_page.py"
    spec = importlib.util.spec_from_file_location("benchmarks_page", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_that_of_the_results(tool):
    assert tool.page(*tool.results()) == (ROOT / "docs/benchmarks.md").read_text(), AGAIN


def test_the_pictures_are_those_of_the_results(tool):
    kept = tool.results()
    for name in tool.pictures(*kept):
        assert tool.mark(*kept) in (ROOT / f"docs/pictures/{name}.svg").read_text(), AGAIN


def test_results_of_one_part_keep_those_of_the_others(tool, tmp_path):
    (tmp_path / "run.json").write_text('{"import_seconds": 0.5}')
    written = {}
    tool.take(tmp_path / "run.json", written.__setitem__)
    ((path, kept),) = written.items()
    assert path == tool.CPU
    assert kept["import_seconds"] == 0.5
    assert kept["pinocchio"] == tool.results()[0]["pinocchio"]
    (tmp_path / "gpu.json").write_text('{"device": "GPU", "rows": []}')
    tool.take(tmp_path / "gpu.json", written.__setitem__)
    assert written[tool.GPU]["rows"] == []
