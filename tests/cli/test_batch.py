"""`kinetree run`: the same numbers as the API, in every format, stopped or not."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli import batch
from tests.cli.test_app import invoke

ROBOT = kt.robots.arm()
COUNT = 23


@pytest.fixture
def states():
    rng = np.random.default_rng(0)
    return {"q": ROBOT.random(rng, COUNT), "v": rng.standard_normal((COUNT, ROBOT.nv))}


def columns(states):
    names = {"q": ROBOT.labels.q, "v": ROBOT.labels.v}
    table = {f"{x}.{n}": states[x][:, k] for x in states for k, n in enumerate(names[x])}
    return {"time": np.arange(COUNT) * 0.5, **table}


def write(path, states):
    table = columns(states)
    if path.suffix == ".npz":
        np.savez(path, time=table["time"], **states)
    elif path.suffix == ".csv":
        numbers = np.stack(list(table.values()), axis=1)
        np.savetxt(path, numbers, "%.17g", ",", header=",".join(table), comments="")
    else:
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(table), path)
    return path


def read(path):
    if path.suffix == ".npz":
        with np.load(path) as file:
            return {name: file[name] for name in file.files}
    if path.suffix == ".csv":
        names = path.read_text().split("\n", 1)[0].split(",")
        numbers = np.loadtxt(path, delimiter=",", skiprows=1)
        return dict(zip(names, numbers.T, strict=True))
    table = pytest.importorskip("pyarrow.parquet").read_table(path)
    return {name: table[name].to_numpy() for name in table.column_names}


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(batch, "MOST", 5)


@pytest.mark.parametrize("kind", [".csv", ".npz", ".parquet"])
@pytest.mark.parametrize("first", [".csv", ".npz", ".parquet"])
@pytest.mark.usefixtures("small_pieces")
def test_results_are_those_of_the_api_in_every_format(tmp_path, states, first, kind):
    path, out = write(tmp_path / f"in{first}", states), tmp_path / f"out{kind}"
    arguments = ["run", "inverse_dynamics", "arm", str(path), "-o", str(out)]
    result = invoke(*arguments, "--zero", "a", "--keep", "time", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["rows"] == COUNT
    expected = ROBOT.inverse_dynamics(states["q"], states["v"], np.zeros(ROBOT.nv))
    found = read(out)
    names = [f"tau.{name}" for name in ROBOT.labels.v]
    if kind == ".npz":
        assert found["tau_columns"].tolist() == names
        tau = found["tau"]
    else:
        assert list(found) == ["time", *names]
        tau = np.stack([found[name] for name in names], axis=1)
    assert (tau == expected).all()
    assert (found["time"] == np.arange(COUNT) * 0.5).all()
    assert {p.name for p in tmp_path.iterdir()} == {path.name, out.name}


@pytest.mark.parametrize("kind", [".csv", ".npz", ".parquet"])
@pytest.mark.usefixtures("small_pieces")
def test_a_job_that_was_stopped_goes_on(tmp_path, states, kind, monkeypatch):
    path, out = write(tmp_path / f"in{kind}", states), tmp_path / f"out{kind}"
    arguments = ["run", "mass_matrix", "arm", str(path), "-o", str(out)]
    kept, written = batch.write_piece, []

    def stops(*piece):
        written.append(piece)
        if len(written) == 4:
            raise KeyboardInterrupt
        kept(*piece)

    monkeypatch.setattr(batch, "write_piece", stops)
    result = invoke(*arguments)
    assert result.exit_code == 130
    assert "run the same command again to resume" in result.output
    assert not out.exists()
    monkeypatch.setattr(batch, "write_piece", kept)
    result = invoke(*arguments, "--json")
    assert json.loads(result.output)["resumed"] == 15
    M = ROBOT.mass_matrix(states["q"])
    found = read(out)
    entries = found["M"][:, 1, 2] if kind == ".npz" else found["M.joint2.joint3"]
    assert (entries == M[:, 1, 2]).all()


@pytest.mark.usefixtures("small_pieces")
def test_pieces_of_another_job_are_not_taken_over(tmp_path, states, monkeypatch):
    path, out = write(tmp_path / "in.npz", states), tmp_path / "out.npz"
    monkeypatch.setattr(batch, "join", lambda *_: 1 / 0)
    assert invoke("run", "gravity_forces", "arm", str(path), "-o", str(out)).exit_code == 1
    monkeypatch.undo()
    monkeypatch.setattr(batch, "MOST", 5)
    other = ("run", "mass_matrix", "arm", str(path), "-o", str(out), "--json")
    result = invoke(*other)
    assert result.exit_code == 1
    assert "has pieces of another job" in result.output.replace("\n", " ")
    result = invoke(*other, "--overwrite")
    assert json.loads(result.output)["resumed"] == 0


MEASURED = """
import resource, sys
from typer.testing import CliRunner
from kinetree.cli.app import app
done = CliRunner().invoke(app, ["run", "gravity_forces", "arm", sys.argv[1], "-o", sys.argv[2]])
assert done.exit_code == 0, done.output
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is Linux's")
def test_memory_does_not_grow_with_the_file(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    piece = ROBOT.random(0, 1 << 16)
    table = pyarrow.table({f"q.{n}": piece[:, k] for k, n in enumerate(ROBOT.labels.q)})
    peaks = []
    for count in (8, 100):  # 29 and 367 MB
        path = tmp_path / f"{count}.parquet"
        with parquet.ParquetWriter(path, table.schema, compression="none") as file:
            for _ in range(count):
                file.write_table(table)
        out = tmp_path / f"out{count}.parquet"
        command = [sys.executable, "-c", MEASURED, str(path), str(out)]
        peaks.append(int(subprocess.run(command, capture_output=True, check=True).stdout))
    assert peaks[1] - peaks[0] < 200, peaks


def test_a_missing_column_is_named_with_what_was_expected(tmp_path, states):
    path = write(tmp_path / "in.csv", states)
    result = invoke("run", "inverse_dynamics", "arm", str(path), "-o", str(tmp_path / "out.csv"))
    assert result.exit_code == 1
    assert "column 'a.joint1' is missing" in result.output
    assert "--zero a" in result.output


def test_zero_is_offered_for_arguments_that_may_be_zero_only(tmp_path, states):
    path, out = write(tmp_path / "in.npz", {"q": states["q"]}), str(tmp_path / "out.npz")
    result = invoke("run", "kinetic_energy", "arm", str(path), "-o", out)
    assert "array 'v' is missing; the file has time, q. --zero v takes v as zero" in result.output
    result = invoke("run", "mass_matrix", "arm", str(path), "-o", out, "--keep", "height")
    assert "array 'height' is missing; the file has time, q\n" in result.output


def test_a_cell_that_is_no_number_is_named_by_its_line(tmp_path, states):
    path = write(tmp_path / "in.csv", states)
    lines = path.read_text().splitlines()
    lines[7] = lines[7].replace(lines[7].split(",")[1], "high")
    path.write_text("\n".join(lines))
    result = invoke("run", "mass_matrix", "arm", str(path), "-o", str(tmp_path / "out.csv"))
    assert result.exit_code == 1
    assert "in.csv:8: " in result.output
    assert "Traceback" not in result.output


def test_files_are_not_overwritten_unless_asked(tmp_path, states):
    path, out = write(tmp_path / "in.npz", states), tmp_path / "out.npz"
    out.write_text("precious")
    arguments = ["run", "mass_matrix", "arm", str(path), "-o", str(out)]
    result = invoke(*arguments)
    assert result.exit_code == 1
    assert "already exists" in result.output
    assert out.read_text() == "precious"
    assert invoke(*arguments, "--overwrite").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mass_matrx", "arm", "in.npz", "-o", "out.npz"), "did you mean 'mass_matrix"),
        (("mass_matrix", "arm", "in.npz", "-o", "out.doc"), "ends with .csv, .npz, .parquet"),
        (("mass_matrix", "arm", "missing.npz", "-o", "out.npz"), "there is no such file"),
        (("mass_matrix", "arm", "in.npz", "-o", "no/out.npz"), "there is no folder"),
        (("jacobian", "arm", "in.npz", "-o", "out.npz"), "needs --frame"),
        (("mass_matrix", "human", "in.npz", "-o", "out.npz"), "q has shape (23, 7)"),
        (("mass_matrix", "arm", "in.npz", "-o", "out.npz", "--zero", "q"), "has no argument 'q'"),
    ],
)
def test_errors_of_users_are_sentences(tmp_path, states, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "in.npz", states)
    result = invoke("run", *arguments)
    assert result.exit_code == 1
    assert message in result.output
    assert "Traceback" not in result.output


def test_a_simulation_can_be_the_input(tmp_path):
    motion = ROBOT.simulate(ROBOT.neutral(), np.zeros(7), time=0.02, dt=1e-3)
    motion.save(tmp_path / "motion.npz")
    out = tmp_path / "energy.npz"
    result = invoke("run", "kinetic_energy", "arm", str(tmp_path / "motion.npz"), "-o", str(out))
    assert result.exit_code == 0, result.output
    (energy,) = (x for name, x in read(out).items() if not name.endswith("_columns"))
    assert (energy == ROBOT.kinetic_energy(motion.q, motion.v)).all()


@pytest.mark.parametrize("kind", [".csv", ".npz", ".parquet"])
@pytest.mark.usefixtures("small_pieces")
def test_comments_in_a_table_change_no_number(tmp_path, states, kind):
    path, out = write(tmp_path / "in.csv", states), tmp_path / f"out{kind}"
    lines = path.read_text().splitlines()
    remarks = ["# by hand", *lines[:4], "# the sensor, was exchanged", *lines[4:], "#"]
    path.write_text("\n".join(remarks))
    result = invoke("run", "mass_matrix", "arm", str(path), "-o", str(out), "--keep", "time")
    assert result.exit_code == 0, result.output
    found = read(out)
    entries = found["M"][:, 1, 2] if kind == ".npz" else found["M.joint2.joint3"]
    assert (entries == ROBOT.mass_matrix(states["q"])[:, 1, 2]).all()
    assert (found["time"] == np.arange(COUNT) * 0.5).all()


def test_options_for_several_names_may_be_repeated(tmp_path, states):
    path = write(tmp_path / "in.csv", states)
    arguments = ["run", "inverse_dynamics", "arm", str(path), "-o", str(tmp_path / "out.npz")]
    result = invoke(
        *arguments, "--zero", "v", "--zero", "a", "--keep", "time", "--keep", "v.joint1"
    )
    assert result.exit_code == 0, result.output
    found = read(tmp_path / "out.npz")
    assert {"time", "v.joint1"} <= set(found)
    still = np.zeros_like(states["v"])
    assert (found["tau"] == ROBOT.inverse_dynamics(states["q"], still, still)).all()


@pytest.mark.parametrize(
    ("kind", "keep", "name"),
    [
        (".csv", "tau.joint1", "tau.joint1"),
        (".parquet", "tau.joint1", "tau.joint1"),
        (".npz", "tau", "tau"),
        (".npz", "tau_columns", "tau_columns"),
        (".csv", "time,time", "time"),
    ],
)
def test_a_kept_column_cannot_have_the_name_of_a_result(tmp_path, states, kind, keep, name):
    table = {**columns(states), "tau": np.zeros(COUNT), "tau_columns": np.zeros(COUNT)}
    table["tau.joint1"] = np.zeros(COUNT)
    path, out = tmp_path / "in.csv", tmp_path / f"out{kind}"
    numbers = np.stack(list(table.values()), axis=1)
    np.savetxt(path, numbers, "%.17g", ",", header=",".join(table), comments="")
    arguments = ["run", "inverse_dynamics", "arm", str(path), "-o", str(out), "--zero", "a"]
    result = invoke(*arguments, "--keep", keep)
    assert result.exit_code == 1
    assert f"the output already has a column {name!r}" in result.output
    assert not out.exists()


def test_a_column_of_an_argument_can_be_kept(tmp_path, states):
    path, out = write(tmp_path / "in.csv", states), tmp_path / "out.csv"
    result = invoke("run", "mass_matrix", "arm", str(path), "-o", str(out), "--keep", "q.joint2")
    assert result.exit_code == 0, result.output
    assert (read(out)["q.joint2"] == states["q"][:, 1]).all()


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
def test_a_column_that_is_there_twice_is_refused(tmp_path, states, kind):
    path = tmp_path / f"in{kind}"
    names, values = zip(*columns(states).items(), strict=True)
    names, values = [*names, "q.joint1"], [*values, np.zeros(COUNT)]
    if kind == ".csv":
        header = ",".join(names)
        np.savetxt(path, np.stack(values, axis=1), "%.17g", ",", header=header, comments="")
    else:
        pyarrow = pytest.importorskip("pyarrow")
        table = pyarrow.Table.from_arrays([pyarrow.array(x) for x in values], names)
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    result = invoke("run", "mass_matrix", "arm", str(path), "-o", str(tmp_path / "out.csv"))
    assert result.exit_code == 1
    assert "are both named 'q.joint1'" in result.output


BAD = "\ufeffq_0,q_1,note\n0.1,0.2,a\n0.3,0.4\n0.5,x,b\n0.7,0.8,c\n1,2,3,4\n"


@pytest.mark.parametrize(("rule", "rows"), [("skip", [0, 3]), ("nan", [0, None, None, 3, None])])
def test_bad_lines_are_left_out_or_nan_and_named(rule, rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text(BAD, encoding="utf-8")
    words = ("run", "gravity_forces", "double_pendulum", "in.csv", "-o", "out.npz")
    stopped = invoke(*words)
    assert stopped.exit_code == 1
    assert "in.csv:3: 2 fields; the first line has 3" in stopped.output
    assert not Path("out.npz").exists()
    result = invoke(*words, "--bad-rows", rule)
    assert result.exit_code == 0, result.output
    assert "3 bad lines" in result.output
    assert "'x' in column 'q_1' is not a number" in result.output
    robot = kt.robots.double_pendulum()
    good = {0: [0.1, 0.2], 3: [0.7, 0.8]}
    expected = [robot.gravity_forces(good[k]) if k in good else [np.nan] * 2 for k in rows]
    np.testing.assert_array_equal(np.load("out.npz")["tau"], expected)


def test_a_rule_for_bad_lines_that_does_not_fit_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("in.npz", q=np.zeros((3, 2)))
    words = ("run", "gravity_forces", "double_pendulum", "in.npz", "-o", "out.npz", "--bad-rows")
    assert "is for CSV files" in invoke(*words, "skip").output
    assert "valid are 'stop', 'skip', 'nan'" in invoke(*words, "ignore").output
