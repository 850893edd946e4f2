# make demo    see what Kinetree does
# make test    lint, types, tests
# make paper   the tables and figures of a paper again, into docs/paper
# make bench   Kinetree beside Pinocchio, as a table and as benchmarks/results.json

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
WORKERS ?= auto

.PHONY: demo test bench paper lint types format clean

demo: $(VENV)/.cli
	$(BIN)/kinetree demo

test: lint types
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks

paper: $(VENV)/.test
	$(BIN)/kinetree paper docs/paper

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.cli: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[cli]'
	touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@ $(VENV)/.cli

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
