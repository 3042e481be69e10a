# One virtual environment, made once from the pinned versions; every target finds it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: demo test test-browser pictures lint bench evidence clean

demo: $(VENV)/.installed  ## solve the shipped question, print the plan, write build/plan.json and its reports
	@mkdir -p build
	$(BIN)/clusterbuy solve scenarios/dense-500b.yaml --json build/plan.json
	for kind in html xlsx md csv; do $(BIN)/clusterbuy report build/plan.json -o build/report.$$kind || exit; done

test: $(VENV)/.dev  ## the whole suite
	$(BIN)/python -m pytest -q -n $(JOBS)

test-browser: $(VENV)/.browser  ## the HTML report in the system's own Chromium
	$(BIN)/python -m pytest -q tests/browser

pictures: demo $(VENV)/.browser  ## the README's pictures: the demo's report with its analyses, a minute or two
	for analysis in compare pareto sensitivity "alternatives --within 5%" "explain --worth" "breakeven --after-run"; do \
	  $(BIN)/clusterbuy $${analysis%% *} scenarios/dense-500b.yaml $${analysis#$${analysis%% *}} --plan build/plan.json --quiet || exit; done
	$(BIN)/clusterbuy report build/plan.json -o build/report.html
	$(BIN)/python tests/browser/pictures.py build/report.html .github/pictures

lint: $(VENV)/.dev  ## style, types, import directions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports

bench: $(VENV)/.dev  ## one JSON object of measured times; BENCH=full for every cell of the decision table
	@PYTHONPATH=. $(BIN)/python tests/benchmarks/bench.py

evidence: $(VENV)/.dev  ## one JSON object of accuracy against measured runs; rewrites the table in optimizer/engine/README.md
	@$(BIN)/python -m tests.evidence.evidence

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

$(VENV)/.browser: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[browser]'
	@touch $@
