"""The documentation site: every page is in its navigation, its files are well formed."""

import re
from pathlib import Path

import pytest
from tools import reference_page

ROOT = Path(__file__).parents[2]


def test_every_page_is_in_the_navigation_once():
    text = (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1]
    named = re.findall(r"[\w/]+\.md", text)
    pages = {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")}
    assert sorted(named) == sorted(pages)


def test_the_search_finds_a_name_without_what_stands_before_and_behind_it():
    separator = re.search(r"separator: '(.+)'", (ROOT / "mkdocs.yml").read_text())[1]
    for text in ("kinetree.set_threads", "kt.set_threads(4)", "`set_threads`", "set_threads=2"):
        assert "set_threads" in re.split(separator, text)
    assert re.split(separator, "0.25") == ["0.25"]


def test_the_printed_output_is_what_the_code_prints(capsys):
    for page in ("README.md", "docs/getting_started.md"):
        text = (ROOT / page).read_text()
        block = re.search(r"```python\n(.+?)```", text, re.DOTALL)
        exec(compile(block[1], page, "exec"), {})
        assert f"    {capsys.readouterr().out}" in text[block.end() :]


def test_every_verb_is_on_the_page_of_the_command():
    app = pytest.importorskip("kinetree.cli.app").app
    page = (ROOT / "docs" / "command.md").read_text()
    for command in app.registered_commands:
        name = command.callback.__name__
        assert f"`kinetree {name}" in page, name


def test_the_citation_has_the_version():
    import kinetree

    text = (ROOT / "CITATION.cff").read_text()
    assert f"version: {kinetree.__version__}\n" in text


def test_the_reference_has_every_public_name():
    """If it does not, run `python tools/reference_page.py`."""
    text = (ROOT / "docs/reference.md").read_text().splitlines()
    missing = [line for line in reference_page.page().splitlines() if line not in text]
    assert missing == []


def test_the_reference_has_threads_doors_and_kernels():
    named = {name for names in reference_page.sections().values() for name, _ in names}
    assert {"kinetree.set_threads", "kinetree.control.pd", "kinetree.scalar.sin"} <= named
    assert {"kinetree.robot.charts.Charts", "kinetree.compiler.runtime.kernel.Kernel"} <= named
    assert {"kinetree.errors.ModelWarning", "kinetree.simulate.rollout.Rollout"} <= named


def test_the_site_builds_without_a_warning(tmp_path):
    build = pytest.importorskip("mkdocs.commands.build")
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings")
    pytest.importorskip("latex2mathml")
    from mkdocs.config import load_config

    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path))
    build.build(config)
    reference = (tmp_path / "reference.html").read_text()
    assert "forward_dynamics" in reference
    assert 'id="kinetree.set_threads"' in reference
    for page in tmp_path.glob("*.html"):
        text = page.read_text()
        assert "arithmatex" not in text  # every equation was found
        assert "<mi>&</mi>" not in text  # and every environment of LaTeX is known
    assert "<math" in (tmp_path / "tutorial.html").read_text()
