"""The table of docs/gazebo.md, against the reader of SDF.

`tests/model/test_sdf.py` has an example for each row that is not honoured.
"""

import re
from pathlib import Path

from kinetree.model.formats import sdf_elements as elements
from kinetree.model.formats.honoured import table
from kinetree.model.formats.sdf_joints import AXES
from kinetree.model.formats.sdf_links import GEOMETRY

PAGE = Path(__file__).parents[2] / "docs/gazebo.md"
SOURCES = Path(elements.__file__).parent


def test_the_page_has_the_rows_of_the_reader():
    assert table("SDF", elements.HONOURED) in PAGE.read_text()


def test_every_element_that_is_honoured_is_read():
    read = {tag for children in elements.READ.values() for tag in children}
    read |= {*AXES, *GEOMETRY, "geometry", "plane", "imu"}
    code = "".join(path.read_text() for path in SOURCES.glob("sdf*.py"))
    code = code.replace((SOURCES / "sdf_elements.py").read_text(), "")
    attributes = set(re.findall(r'"(\w+)"', code))
    for row in elements.HONOURED:
        if row.honoured:
            words = set(re.findall(r"`([\w:]+)`", row.name))
            assert words <= read | attributes, (row.name, words - read - attributes)
