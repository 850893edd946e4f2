"""One rule for the names of columns, in `kinetree run` and in logs."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import LogError, TableError, UnknownNameError
from kinetree.files.column_names import (
    column_option,
    columns_of_options,
    find_column,
    possible_names,
)
from kinetree.identify import read
from tests.cli.test_app import invoke

ROBOT = kt.robots.double_pendulum()
NAMES = ROBOT.labels.q
STYLES = ("q.{}", "q_{}", "{}.position", "{}_pos", "position.{}")
NUMBERED = ("q_{}", "q[{}]", "pos{}")


@pytest.fixture(scope="module")
def states():
    q = ROBOT.random(0, batch=4)
    return q, ROBOT.gravity_forces(q)


def table(path, labels, q, mark=""):
    rows = [",".join(labels), *(",".join(map(repr, row)) for row in q.tolist())]
    path.write_text(mark + "\n".join(rows) + "\n", encoding="utf-8")


@pytest.mark.parametrize("style", STYLES + NUMBERED)
def test_run_and_logs_take_the_same_names(tmp_path, states, style):
    q, tau = states
    for numbered in (True, False):
        if style not in (NUMBERED if numbered else STYLES):
            continue
        labels = [style.format(k if numbered else name) for k, name in enumerate(NAMES)]
        table(tmp_path / "q.csv", labels, q, mark="\ufeff")
        out = tmp_path / f"tau{numbered}.npz"
        asked = ("gravity_forces", "double_pendulum", str(tmp_path / "q.csv"), "-o", str(out))
        result = invoke("run", *asked)
        assert result.exit_code == 0, result.output
        assert np.allclose(np.load(out)["tau"], tau)
        logged = [*labels, *(f"tau.{name}" for name in NAMES), "time"]
        table(tmp_path / "log.csv", logged, np.column_stack([q, tau, np.arange(4.0)]))
        assert np.array_equal(read(tmp_path / "log.csv", ROBOT).q, q)


def test_a_star_stands_for_every_coordinate_that_fits():
    found = columns_of_options(["q.joint*=pos_*", "tau_*=cur[*]"], ["joint1", "wrist"], ["joint1"])
    assert found == {"q.joint1": "pos_1", "tau_0": "cur[0]"}
    assert columns_of_options(["q.*=*_deg", "time=t"], NAMES, NAMES) == {
        **{f"q.{name}": f"{name}_deg" for name in NAMES},
        "time": "t",
    }
    for wrong, message in (("q.*=x", "one [*] is expected"), ("q.knee*=*", "no coordinate fits")):
        with pytest.raises(TableError, match=message):
            columns_of_options([wrong], NAMES, NAMES)


def test_a_coordinate_that_the_robot_lacks_is_named():
    with pytest.raises(UnknownNameError, match=r"no coordinate 'q\.elbo'"):
        columns_of_options(["q.elbo=a"], NAMES, NAMES)
    given = ["q=all", "q_0=a", "pos.elbow=b", "stamp=c"]
    assert set(columns_of_options(given, ["elbow"], ["elbow"])) == {
        "q",
        "q_0",
        "pos.elbow",
        "stamp",
    }


def test_an_option_the_wrong_way_round_is_told(tmp_path, states):
    q, _ = states
    table(tmp_path / "q.csv", ["A", "B"], q)
    asked = ("run", "gravity_forces", "double_pendulum", str(tmp_path / "q.csv"), "-o")
    result = invoke(*asked, str(tmp_path / "tau.npz"), "--column", f"A=q.{NAMES[0]}")
    assert result.exit_code == 1
    assert f"write --column q.{NAMES[0]}=A" in result.output.replace("\n", " ")


def test_other_names_are_given_by_option(tmp_path, states):
    q, tau = states
    table(tmp_path / "q.csv", ["A", "B"], q)
    asked = ("run", "gravity_forces", "double_pendulum", str(tmp_path / "q.csv"), "-o")
    options = [f"--column=q.{name}={label}" for name, label in zip(NAMES, "AB", strict=True)]
    result = invoke(*asked, str(tmp_path / "tau.npz"), *options)
    assert result.exit_code == 0, result.output
    assert np.allclose(np.load(tmp_path / "tau.npz")["tau"], tau)
    result = invoke(*asked, str(tmp_path / "b.npz"), "--column", f"q.{NAMES[0]}=C")
    assert result.exit_code == 1
    assert "column 'C' is missing" in result.output.replace("\n", " ")
    np.savez(tmp_path / "q.npz", positions=q)
    asked = ("run", "gravity_forces", "double_pendulum", str(tmp_path / "q.npz"), "-o")
    result = invoke(*asked, str(tmp_path / "c.npz"), "--column", "q=positions")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("row", "said"), [("0.1", "1 fields"), ("1,2,3", "3 fields"), ("1,", "'' in column")]
)
def test_missing_and_extra_cells_are_named_with_their_line(tmp_path, row, said):
    labels = [f"q.{name}" for name in NAMES]
    (tmp_path / "q.csv").write_text(f"{','.join(labels)}\n0.1,0.2\n{row}\n")
    asked = ("run", "gravity_forces", "double_pendulum", str(tmp_path / "q.csv"), "-o")
    result = invoke(*asked, str(tmp_path / "tau.csv"))
    assert result.exit_code == 1
    assert f"q.csv:3: {said}" in result.output.replace("\n", "")
    assert not (tmp_path / "tau.csv").exists()
    if row != "1,":  # a gap in a log is left out with its sample
        with pytest.raises(LogError, match=f"csv:3: {said}"):
            read(tmp_path / "q.csv", ROBOT)


def test_names_come_before_numbers():
    assert next(possible_names("tau", "elbow", 3)) == "tau.elbow"
    assert find_column({"q_1", "q.elbow"}, "q", "elbow", 1) == "q.elbow"
    assert find_column({"x"}, "M", "a.b", 0, {"M.a.b": "x"}) == "x"
    assert find_column({"mass"}, "q", "elbow", 0) is None
    assert column_option("q.elbow = pos_3") == ("q.elbow", "pos_3")
    for wrong in ("q.elbow", "=x", "x="):
        with pytest.raises(TableError, match="WHAT=NAME"):
            column_option(wrong)


@pytest.mark.parametrize(("mark", "word"), [(";", "semicolons"), ("\t", "tabs")])
def test_other_separators_are_named_and_failed_jobs_leave_nothing(tmp_path, mark, word):
    asked = ("run", "gravity_forces", "double_pendulum", str(tmp_path / "q.csv"), "-o")
    for names in (f"q_0{mark}q_1", f'"q_0"{mark}"q_1"'):
        (tmp_path / "q.csv").write_text(f"{names}\n1{mark}2\n")
        result = invoke(*asked, str(tmp_path / "tau.csv"))
        assert f"separated by {word}" in result.output.replace("\n", " ")
    for text in ("a,b\n1,2\n", "q_0,q_1\n1,2\n3\n"):
        (tmp_path / "q.csv").write_text(text)
        assert invoke(*asked, str(tmp_path / "tau.csv")).exit_code == 1
        assert [path.name for path in tmp_path.iterdir()] == ["q.csv"]
