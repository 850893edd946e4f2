"""docs/drake.md: each row of its table of calls, evaluated as it stands there."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.tolerances import PEER, relative_error

pytest.importorskip("pydrake")
TEXT = (Path(__file__).parents[2] / "docs/drake.md").read_text()
SECTION = TEXT.split("## Names of calls")[1].split("\n## ")[0]
CALLS = re.findall(r"^\| `(.+?)` \| `(.+?)` \|$", SECTION, re.MULTILINE)


@pytest.fixture(scope="module")
def names(tmp_path_factory) -> dict:
    """What the page's code leaves before its table."""
    known: dict = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("urdf"))
        for block in re.findall(r"```python\n(.+?)```", TEXT.split("| Drake |")[0], re.DOTALL):
            exec(compile(block, "drake.md", "exec"), known)
    return known


@pytest.mark.parametrize(("theirs", "ours"), CALLS, ids=[call[0][:60] for call in CALLS])
def test_a_call_and_its_counterpart_agree(names, theirs, ours):
    expected, found = (np.asarray(eval(text, dict(names)), float) for text in (theirs, ours))
    scale = max(1.0, float(np.abs(expected).max()))
    assert relative_error(found / scale, expected / scale) < PEER


def test_the_table_is_read():
    assert len(CALLS) > 15
