# One virtual environment, made once from the pinned versions; every target finds it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: demo test lint bench evidence clean

demo: $(VENV)/.installed  ## solve the shipped question, print the plan, write build/plan.json
	@mkdir -p build
	$(BIN)/clusterbuy solve scenarios/dense-500b.yaml --json build/plan.json

test: $(VENV)/.dev  ## the whole suite
	$(BIN)/python -m pytest -q -n $(JOBS)

lint: $(VENV)/.dev  ## style, types, import directions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports

bench: $(VENV)/.dev  ## one JSON object of measured times; BENCH=full for every cell of the decision table
	@PYTHONPATH=. $(BIN)/python tests/benchmarks/bench.py

evidence: $(VENV)/.dev  ## one JSON object of errors against measured runs
	@$(BIN)/clusterbuy backtest tests/data/runs.csv --quiet --json -

clean:
	rm -rf $(VENV) build dist

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@
