# Everything a newcomer types. Needs Python 3.11, 3.12 or 3.13 and a network for the first set-up.

# The first that runs and is of a version that fits: a name on the PATH may be a shim with nothing behind it.
FITS := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do $$p -c '$(FITS)' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
PORT ?= 3000

# `dagster dev` keeps what ran under this folder; dagster.yaml is read from it.
export DAGSTER_HOME := $(CURDIR)

.PHONY: help setup demo dev docs test bench lint format lock clean

help:  ## what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## create .venv and install everything, from requirements.lock

# --no-deps: the lock is the whole answer. Left to resolve, pip looks at a release newer than a pin that carries an extra
# (sqlglot[rs]) and refuses it for want of a hash.
$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11, 3.12 or 3.13 is needed and none was found. Try: make PYTHON=/path/to/python3.12"; exit 1; }
	@$(PYTHON) -c '$(FITS)' || { echo "Python 3.11, 3.12 or 3.13 is needed; $(PYTHON) is another version."; exit 1; }
	@echo "Installing into $(VENV) with $(PYTHON); the first time this takes a minute or two."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: $(READY)  ## a year of real flights through Bronze, Silver and Gold
	@$(BIN)/python -m demo

dev: $(READY)  ## the Dagster UI on http://127.0.0.1:3000
	@$(BIN)/python -m lakehouse.orchestration.before_dev $(PORT) assets.partitions
	@$(BIN)/dagster dev -h 127.0.0.1 -p $(PORT)

docs: $(READY)  ## dbt's pages of the models, their columns, tests and lineage, as one HTML file
	@cd dbt_project && $(CURDIR)/$(BIN)/dbt --quiet docs generate --static
	@echo "Open $(CURDIR)/dbt_project/target/static_index.html in a browser; it needs no server."

test: $(READY)  ## all tests
	@$(BIN)/pytest -n 2 --dist loadfile tests/unit tests/integration
	@$(BIN)/pytest tests/e2e  # alone: a browser and its Dagster take both cores

bench: $(READY)  ## the benchmarks, into benchmarks/RESULTS.md; a quarter of an hour
	@$(BIN)/python -m benchmarks

lint: $(READY)  ## style, types and the import rules
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(READY)  ## let ruff format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lock: $(READY)  ## refresh requirements.lock
	@$(BIN)/uv pip compile pyproject.toml --group demo --group dev --universal --generate-hashes \
	  --no-strip-extras --python-version 3.11 --no-header --no-emit-index-url --upgrade --quiet -o requirements.lock

clean:  ## remove the data and everything that was built, but not .venv
	@rm -rf data dbt_project/target dbt_project/logs
