# make demo    see what Kinetree does
# make test    lint, types, tests
# make test-fast      the tests that are not slow
# make slow-tests     measure which tests are slow, and write tests/slow_tests.txt again
# make fuzz    property tests with fresh random seeds, for MINUTES=30
# make test-pythons   the tiny suite on the other Python versions that are installed
# make test-wheel     build the wheel, and try it in fresh environments of Python 3.10 to 3.13
# make paper   the tables and figures of a paper again, into docs/paper
# make test-memory    a part of the suite with freed memory overwritten
# make test-gpu       kernels on a GPU against the interpreter, where CuPy and a GPU are
# make docs    the documentation as a site, into build/site
# make bench   Kinetree beside Pinocchio, as a table and as benchmarks/results.json

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
WORKERS ?= auto
MINUTES ?= 30
# Tests on a GPU run side by side where pytest-xdist is: compiling takes most of their time.
GPU_WORKERS ?= $(shell $(PYTHON) -c "import xdist" 2>/dev/null && echo "-n $(WORKERS) -p no:benchmark")
# The build without CUDA. Any other version would bring 2.7 GB of CUDA packages.
TORCH ?= 2.13.0+cpu

.PHONY: demo test test-fast slow-tests fuzz test-gpu test-pythons test-wheel test-memory bench paper docs lint types format clean

demo: $(VENV)/.cli
	$(BIN)/kinetree demo

test: lint types
	@test -n "$$KINETREE_BROWSER" || command -v chromium || command -v chrome || \
	echo "no browser: the tests of the viewer's page are skipped (install chromium)"
	$(BIN)/pytest -n $(WORKERS) --durations 30

test-fast: $(VENV)/.test
	$(BIN)/pytest -n $(WORKERS) -m "not slow and not long" --hypothesis-profile fast

slow-tests: $(VENV)/.test
	$(BIN)/pytest -n $(WORKERS) -m "not slow" --hypothesis-profile fast --slow-tests

fuzz: $(VENV)/.test
	$(BIN)/python -m tools.fuzz --minutes $(MINUTES) --workers $(WORKERS)

test-pythons:
	tools/test_pythons.sh 3.10 3.12 3.13

test-wheel:
	PYTHON=$(PYTHON) tools/test_wheel.sh 3.10 3.11 3.12 3.13

test-memory: $(VENV)/.test
	PYTHONMALLOC=malloc MALLOC_PERTURB_=255 GLIBC_TUNABLES=glibc.malloc.tcache_count=0 \
	$(BIN)/pytest -n $(WORKERS) -m "not slow" tests/test_tiny.py tests/adversarial/test_memory.py \
	tests/compiler/runtime/test_kernel.py tests/compiler/runtime/test_arrays.py tests/compiler/runtime/test_threads.py \
	tests/compiler/runtime/test_native_function.py tests/compiler/runtime/test_time_loop.py

test-gpu:
	$(PYTHON) -m pytest -q -p no:cacheprovider --noconftest $(GPU_WORKERS) tests/compiler/runtime/test_gpu.py

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks

paper: $(VENV)/.test
	$(BIN)/kinetree paper docs/paper

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.cli: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[cli]' # Python compiles what it imports
	touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	$(BIN)/python -m pip install --quiet 'torch==$(TORCH)' 2>/dev/null \
	|| echo 'torch $(TORCH) is not available to pip: tests of PyTorch are skipped'
	$(BIN)/python -m pip install --quiet --editable '.[notebooks]' 2>/dev/null \
	|| echo 'Jupyter is not available to pip: notebooks are not run by a kernel'
	touch $@ $(VENV)/.cli

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@ $(VENV)/.cli

clean:
	rm -rf $(VENV)* build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
