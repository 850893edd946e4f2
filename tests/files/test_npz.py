"""NPZ files: read right, whole or in pieces, or refused."""

import io
import zipfile

import numpy as np
import pytest

from kinetree.errors import TableError
from kinetree.files.npz import NpzFile, read_npz

Q = np.arange(12.0).reshape(4, 3)


def npy(array):
    data = io.BytesIO()
    np.lib.format.write_array(data, np.asarray(array), allow_pickle=True)
    return data.getvalue()


def archive(path, members, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in members:
            file.writestr(name, data)
    return path


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_come_back_as_they_were_saved(tmp_path, save):
    arrays = {"q": Q, "f": np.asfortranarray(Q), "i": np.arange(3), "n": np.array(2.0)}
    save(tmp_path / "a.npz", empty=np.zeros((0, 3)), **arrays)
    found = read_npz(tmp_path / "a.npz")
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)
    assert found["empty"].shape == (0, 3)


def test_pieces_start_anywhere(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", q=Q.astype(np.float32))
    pieces = list(NpzFile(tmp_path / "a.npz").pieces("q", 5, 2))
    assert [len(p) for p in pieces] == [5, 5]
    assert np.array_equal(np.concatenate(pieces), np.arange(2.0, 12.0))


def test_missing_arrays_and_text_are_named(tmp_path):
    np.savez(tmp_path / "a.npz", q=Q, names=np.array(["a", "b"]))
    with pytest.raises(TableError, match="array 'v' is missing; it has q, names"):
        read_npz(tmp_path / "a.npz", ("q", "v"))
    with pytest.raises(TableError, match="array 'names' is of type <U1; numbers are expected"):
        read_npz(tmp_path / "a.npz")
    assert list(read_npz(tmp_path / "a.npz", ("q",), ("v",))) == ["q"]


def changed(old, new):
    """The bytes of Q with a header that says something else, of the same length."""
    assert old in npy(Q)
    return npy(Q).replace(old, new.ljust(len(old)))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text",
        npy(Q)[:-1],
        npy(Q) + b"?",
        npy(Q)[:40],
        npy(np.array([{}], object)),
        changed(b"(4, 3)", b"(9, 3)"),
        changed(b"(4, 3), }", b"(-4,-3),}"),
        changed(b"(4, 3)", b"(4e0,)"),
        changed(b"'<f8'", b"'V0'"),
        changed(b"'<f8'", b"'O'"),
        changed(b"'<f8'", b"'((("),
        changed(b"{'descr'", b"[[[[[[[["),
        b"\x93NUMPY\x09\x09" + npy(Q)[8:],
    ],
)
def test_headers_that_are_wrong_are_errors_of_ours(tmp_path, data):
    path = archive(tmp_path / "a.npz", [("q.npy", data)])
    with pytest.raises(TableError, match=r"a\.npz"):
        read_npz(path)


def test_archives_that_are_odd_are_errors_of_ours(tmp_path):
    path = tmp_path / "a.npz"
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        archive(path, [("q.npy", npy(Q))], method)
        with pytest.raises(TableError, match="a method other than deflate"):
            read_npz(path)
    with pytest.warns(UserWarning, match="Duplicate name"):
        archive(path, [("q.npy", npy(Q)), ("q.npy", npy(Q + 1))])
    with pytest.raises(TableError, match="arrays 1 and 2 are both named 'q'"):
        read_npz(path)
    archive(path, [("q.npy", npy(Q))])
    data = path.read_bytes()
    central = data.index(b"PK\x01\x02")
    path.write_bytes(data[: central + 8] + b"\x01" + data[central + 9 :])
    with pytest.raises(TableError, match=r"'q\.npy' is encrypted"):
        read_npz(path)
    path.write_bytes(data.replace(Q.tobytes(), (Q + 1).tobytes()))  # CRC-32 does not fit
    with pytest.raises(TableError, match="damaged: Bad CRC-32"):
        read_npz(path)
