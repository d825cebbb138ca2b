# Two commands do all the set-up: `make demo` and `make test`. Both need only Python 3.11+ and make.
PYTHON ?= python3
EXTRAS ?= dev
BIN := .venv/bin

.PHONY: demo test test-oldest lint docs clean

demo: .venv/installed-demo
	$(BIN)/python examples/stand.py
	$(BIN)/python examples/pushes.py

test: .venv/installed-dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	HEELSTRIKE_LEVEL=0 $(BIN)/python -m pytest -n 2 --dist worksteal -m "not nightly"

# every direct dependency at the oldest version that pyproject.toml allows; nightly
test-oldest: .venv-oldest/installed
	.venv-oldest/bin/python -m pytest -n 2 --dist worksteal -m "not nightly" $(TESTS)

lint: .venv/installed-dev
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .
	$(BIN)/python -m mypy

docs: .venv/installed-dev
	$(BIN)/python -m mkdocs build --strict --site-dir build/site

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Heelstrike needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv .venv

.venv/installed-demo: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.'
	touch $@

.venv/installed-dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]'
	touch $@

.venv-oldest/installed: pyproject.toml
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet uv
	.venv-oldest/bin/uv pip install --quiet --python .venv-oldest/bin/python --resolution lowest-direct --editable '.[test]'
	touch $@

clean:
	rm -rf .venv .venv-oldest
