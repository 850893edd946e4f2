"""Damaged files of numbers at every door: the result is right, or an error of ours.

What a file says is read a second time by other code, which is slow and simple. Where Kinetree gives
a result, it must be that of the second reading.
"""

import csv
import io
import re
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.cli.batch import Job, run_job
from kinetree.compiler.runtime import cache
from kinetree.errors import KinetreeError, SimulationWarning
from kinetree.identify import Log, Stream, read
from kinetree.motion import Motion
from kinetree.show.view.trajectory import Trajectory, load_trajectory
from kinetree.simulate.result import Simulation

ROBOT = kt.robots.double_pendulum()
COUNT = 12
NAMES = ROBOT.labels.q
TIMES = np.arange(COUNT) * 0.01
Q, V, TAU = np.random.default_rng(0).standard_normal((3, COUNT, 2)) * 0.01
COLUMNS = {"time": TIMES} | {
    f"{kind}.{name}": array[:, k]
    for kind, array in (("q", Q), ("tau", TAU))
    for k, name in enumerate(NAMES)
}
TEXT = (
    ",".join(COLUMNS)
    + "\n"
    + "".join(
        ",".join(map(repr, row)) + "\n" for row in np.stack(list(COLUMNS.values()), axis=1).tolist()
    )
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def own_cache(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KINETREE_CACHE", str(folder / "cache"))
        patch.setenv("KINETREE_CACHE_SIZE", "1 MB")
        yield


# damage


TOKENS = [
    *(b"#", b"\n", b"\r", b'"', b",", b" ", b"\x00", b"\xff", b"\xef\xbb\xbf", b"nan", b"1e400"),
    *(
        b"-",
        b"_",
        "٣".encode(),
        b"q.",
        b"PK\x01\x02",
        b"PK\x03\x04",
        b"\x93NUMPY",
        b"(",
        b"'",
        b"O",
    ),
    *(b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x7f", b"PAR1", b"True", b"-1", b"9" * 30),
]


def damage(data, edits):
    """Bytes after some edits, each at a share of their length."""
    for kind, place, length, token in edits:
        at = int(place * len(data))
        if kind == "insert":
            data = data[:at] + token + data[at:]
        elif kind == "overwrite":
            data = data[:at] + token + data[at + len(token) :]
        elif kind == "delete":
            data = data[:at] + data[at + length :]
        elif kind == "repeat":
            data = data[:at] + data[at : at + length] + data[at:]
        else:
            data = data[:at]
    return data


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "overwrite", "delete", "repeat", "overwrite", "cut"]),
        st.floats(0.0, 1.0),
        st.integers(1, 60),
        st.one_of(st.sampled_from(TOKENS), st.binary(min_size=1, max_size=4)),
    ),
    min_size=1,
    max_size=3,
)


def result_of(door, *arguments):
    """What a door gives, or None if it refuses with a sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SimulationWarning)
        try:
            return door(*arguments)
        except KinetreeError:
            return None


# doors


def gravity(path):
    """What `kinetree run` computes of a file."""
    out = path.with_name("out.npz")
    run_job(ROBOT, Job("gravity_forces", path, out, "", {}, (), ("time",), True))
    with np.load(out) as found:
        return found["time"], found["tau"]


def try_tables(path, columns):
    """Try the doors for tables.

    Arguments:
        columns: from names to columns, a second reading of the file.
    """
    forces = [f"tau.{name}" for name in NAMES]
    positions = [f"q.{name}" for name in NAMES]
    found = result_of(gravity, path)
    if found is not None:
        time, *q = columns(["time", *positions])
        assert np.array_equal(found[0], time, equal_nan=True)
        assert np.array_equal(found[1], ROBOT.gravity_forces(np.stack(q, 1)), equal_nan=True)
    log = result_of(read, path, ROBOT)
    if log is not None:
        time, *numbers = columns(["time", *positions, *forces])
        whole = np.isfinite(numbers).all(axis=0)
        assert np.array_equal(log.time, time[whole])
        assert np.array_equal(log.q, np.stack(numbers[:2], 1)[whole])
        assert np.array_equal(log.tau, np.stack(numbers[2:], 1)[whole])
    if path.suffix != ".npz":
        result_of(lambda: list(Stream(path, ROBOT, rows=5)))


# CSV


def csv_columns(data, names):
    lines = re.split(r"\r\n|\r|\n", data.decode("utf-8-sig"))
    lines = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    header, *rows = ([field.strip() for field in next(csv.reader([line]))] for line in lines)
    assert all(len(row) == len(header) for row in rows)
    places = [header.index(name) for name in names]
    return [np.array([float(row[k] or "nan") for row in rows]) for k in places]


@given(EDITS)
@example([("insert", 0.5, 1, b"\n# remark, with a comma\n")])
@example([("insert", 0.0, 1, b"\xff")])
@example([("overwrite", 0.12, 1, b'"'), ("overwrite", 0.9, 1, b'"')])
def test_damaged_csv_files_are_read_right_or_refused(folder, edits):
    data = damage(TEXT.encode(), edits)
    path = folder / "a.csv"
    path.write_bytes(data)
    try_tables(path, lambda names: csv_columns(data, names))


# NPZ


ARRAYS = {"time": TIMES, "times": TIMES, "q": Q, "v": V, "tau": TAU, "diverged": np.array(np.nan)}


def npy(array):
    data = io.BytesIO()
    np.lib.format.write_array(data, array)
    return data.getvalue()


def zipped(members, method=zipfile.ZIP_DEFLATED):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return data.getvalue()


def npz_array(path, name):
    with zipfile.ZipFile(path) as archive:
        return np.lib.format.read_array(io.BytesIO(archive.read(f"{name}.npy")))


def npz_columns(path, names):
    wanted = [name.partition(".") for name in names]
    arrays = {kind: npz_array(path, kind) for kind, _, _ in wanted}
    q = arrays["q"].reshape(-1, 2)
    numbered = {kind: x.reshape(len(q), -1) for kind, x in arrays.items()}
    return [
        numbered[kind][:, NAMES.index(joint) if joint else 0].astype(float)
        for kind, _, joint in wanted
    ]


def try_npz(path):
    try_tables(path, lambda names: npz_columns(path, names))
    simulation = result_of(Simulation.load, path)
    if simulation is not None:
        assert np.array_equal(simulation.q, npz_array(path, "q"), equal_nan=True)
    result_of(Motion.load, ROBOT, path)
    result_of(lambda: Trajectory(ROBOT, load_trajectory(path)))


@given(EDITS, st.sampled_from(list(ARRAYS)))
def test_npz_files_with_a_damaged_array_are_read_right_or_refused(folder, edits, name):
    members = {f"{key}.npy": npy(array) for key, array in ARRAYS.items()}
    # the header is where most can go wrong
    near = [(kind, 0.4 * place, length, token) for kind, place, length, token in edits]
    members[f"{name}.npy"] = damage(members[f"{name}.npy"], near)
    path = folder / "a.npz"
    path.write_bytes(zipped(members))
    try_npz(path)


@given(EDITS, st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
def test_damaged_npz_files_are_read_right_or_refused(folder, edits, method):
    members = {f"{key}.npy": npy(array) for key, array in ARRAYS.items()}
    path = folder / "b.npz"
    path.write_bytes(damage(zipped(members, method), edits))
    try_npz(path)


# Parquet


@given(EDITS, st.booleans())
def test_damaged_parquet_files_are_read_right_or_refused(folder, edits, at_the_end):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    data = io.BytesIO()
    parquet.write_table(pyarrow.table(COLUMNS), data)
    if at_the_end:  # where the metadata are
        edits = [(kind, 0.4 + 0.6 * place, n, token) for kind, place, n, token in edits]
    path = folder / "a.parquet"
    path.write_bytes(damage(data.getvalue(), edits))

    def columns(names):
        table = parquet.ParquetFile(path).read(columns=names)
        return [table[name].to_numpy() for name in names]

    try_tables(path, columns)


@given(EDITS)
def test_damaged_simulations_in_parquet_are_read_or_refused(folder, edits):
    pytest.importorskip("pyarrow")
    path = folder / "s.parquet"
    Simulation(TIMES, {"q": Q, "v": V, "tau": TAU}).save(path)
    near = [(kind, 0.3 + 0.7 * place, n, token) for kind, place, n, token in edits]
    path.write_bytes(damage(path.read_bytes(), near))
    found = result_of(Simulation.load, path)
    assert found is None or found.q.shape == (len(found.times), 2)


# ROS bags


@given(EDITS, st.sampled_from(["one.bag", "two/two.mcap", "three/three.db3"]))
def test_damaged_bags_are_read_or_refused(folder, edits, name):
    pytest.importorskip("rosbags")
    from tests.identify.test_bag import write_ros1, write_ros2

    bags = folder / "bags"
    if not bags.exists():
        bags.mkdir()
        log = Log(ROBOT, TIMES, Q, TAU, np.gradient(Q, TIMES, axis=0))
        write_ros1(bags / "one.bag", log)
        write_ros2(bags / "two", log)
        write_ros2(bags / "three", log, "SQLITE3")
    path = folder / f"damaged{(bags / name).suffix}"
    path.write_bytes(damage((bags / name).read_bytes(), edits))
    found = result_of(read, path, ROBOT)
    assert found is None or found.q.shape == (len(found.time), 2)


# the cache


@given(EDITS, st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
@pytest.mark.usefixtures("own_cache")
def test_a_damaged_export_is_imported_right_or_refused(folder, edits, method):
    entries = {cache.key(str(k)): bytes(range(k, 200)) for k in range(3)}
    whole = zipped({name: cache._head(name, data) + data for name, data in entries.items()}, method)
    file = folder / "kernels.zip"
    file.write_bytes(damage(whole, edits))
    cache.clear()
    result_of(cache.import_from, file)
    assert cache.entries().items() <= entries.items()
