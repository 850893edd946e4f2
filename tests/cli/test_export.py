"""kinetree export: the files it writes, its options, its errors."""

import shutil

import pytest

from tests.cli.test_app import invoke


def names(result):
    return [line.rpartition("/")[2] for line in result.output.splitlines()]


def test_export_writes_a_header_a_source_a_test_and_a_cmake_file(tmp_path):
    result = invoke("export", "cart_pole", "mass_matrix", "-o", str(tmp_path / "new" / "folder"))
    assert result.exit_code == 0, result.output
    files = ["mass_matrix.h", "mass_matrix.c", "mass_matrix_test.c", "CMakeLists.txt"]
    assert names(result) == files
    assert sorted(p.name for p in (tmp_path / "new" / "folder").iterdir()) == sorted(files)


def test_export_writes_into_a_folder_of_the_quantitys_name_by_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert invoke("export", "cart_pole", "mass_matrix").exit_code == 0
    assert (tmp_path / "mass_matrix" / "mass_matrix.h").exists()


def test_export_takes_the_type_the_name_the_method_and_settings(tmp_path):
    options = ["--dtype", "float32", "--name", "tip", "--frame", "tool", "--axes", "body"]
    result = invoke("export", "arm", "jacobian", "-o", str(tmp_path), *options)
    assert result.exit_code == 0, result.output
    header = (tmp_path / "tip.h").read_text()
    assert "void tip(const float *q, float *jacobian);" in header
    assert "frame tool, axes body" in header
    result = invoke("export", "arm", "mass_matrix", "--method", "rnea", "-o", str(tmp_path))
    assert "method rnea" in (tmp_path / "mass_matrix.h").read_text()


def test_export_lets_the_base_float(tmp_path):
    assert invoke("export", "arm", "bias_forces", "--floating", "-o", str(tmp_path)).exit_code == 0
    assert "in  q[14]: configuration" in (tmp_path / "bias_forces.h").read_text()


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler is installed")
def test_export_builds_a_library(tmp_path):
    result = invoke("export", "cart_pole", "mass_matrix", "--lib", "-o", str(tmp_path))
    assert result.exit_code == 0, result.output
    library = names(result)[-1]
    assert library.startswith("libmass_matrix.")
    assert (tmp_path / library).stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mass_matrx"], "has no quantity 'mass_matrx': did you mean 'mass_matrix'"),
        (["mass_matrix", "--target", "rust"], "no target 'rust': valid are 'c', 'cuda'"),
        (["mass_matrix", "--method", "abc"], "no method 'abc': valid are 'crba'"),
        (["mass_matrix", "--dtype", "float16"], "float64 or float32 is expected"),
        (["mass_matrix", "--name", "a b"], "cannot name a C function"),
        (["mass_matrix", "--frame", "pole"], "mass_matrix has no setting 'frame'"),
        (["jacobian"], "jacobian needs --frame, one of"),
        (["hybrid_dynamics"], "hybrid_dynamics needs --accelerated"),
        (["jacobian", "--frame", "nose"], "has no frame 'nose'"),
    ],
)
def test_what_cannot_be_exported_is_a_message(arguments, message, tmp_path):
    result = invoke("export", "cart_pole", *arguments, "-o", str(tmp_path / "folder"))
    assert result.exit_code == 1
    assert message in " ".join(result.output.split())
    assert "Traceback" not in result.output
    assert not (tmp_path / "folder").exists()


def test_a_folder_that_is_a_file_is_named(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    result = invoke("export", "cart_pole", "mass_matrix", "-o", str(path))
    assert result.exit_code == 1
    assert "is a file: a folder is expected" in " ".join(result.output.split())
