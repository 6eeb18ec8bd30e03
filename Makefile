# Everything a contributor runs. Needs Python 3.11 or newer and make; the rest is installed
# into .venv from the hashed locks in requirements/, again whenever a lock has changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
# Test processes; three keep two cores busy, since tests wait for databases.
WORKERS ?= 3
# More arguments for pytest, such as ARGS='-k claim'.
ARGS ?=

# Bytecode is kept whatever the environment says: without it, every process compiles the product.
unexport PYTHONDONTWRITEBYTECODE

PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)
# What is in the environment for now, stamped by the lock it came from.
RUN := $(VENV)/.run
DEV := $(VENV)/.dev
INSTALL_WINDLASS = $(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .

# Questions for `make bench`, all of them by default; see benchmarks/questions.
BENCH ?=

# Words in the names of the planted bugs for `make mutants`, all of them by default.
MUTANTS ?=

# The runs of `make chaos`, one after the other; jobs and minutes are the least of each.
SETUP ?= sqlite postgresql pgbouncer mariadb
SEED ?= 1
JOBS ?= 25000
MINUTES ?= 3

# The dashboard: what it is built from, and its page, which the build writes last.
UI := ui/dist/index.html
UI_SOURCES := $(shell find ui/src ui/public -type f 2>/dev/null) $(wildcard ui/*.json ui/*.ts ui/*.mjs ui/*.html)
NODE_MODULES := ui/node_modules/.stamp

.PHONY: help ui demo test test-quick mutants check format lock bench chaos clean

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

ui: $(UI) ## build the dashboard, if its sources have changed

demo: $(RUN) $(UI) ## run the product with a living demo, on SQLite
	$(BIN)/windlass dev --demo

test: $(DEV) $(UI) ## all tests, on SQLite, PostgreSQL and MariaDB
	cd ui && npm test
	$(BIN)/python -m tests.databases run -- $(PYTEST)

test-quick: $(DEV) $(UI) ## all tests that need no server
	WINDLASS_TEST_DATABASES=sqlite $(PYTEST)

mutants: $(DEV) ## plant bugs one by one and see that the tests notice; MUTANTS=renewal plants some
	$(BIN)/python -m tests.databases run -- $(BIN)/python -m tests.mutants $(MUTANTS)

check: $(DEV) $(NODE_MODULES) ## lint, format, types, import contracts, dependencies
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/deptry src
	cd ui && npm run check

format: $(DEV) $(NODE_MODULES) ## put the code into the format that `check` wants
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	cd ui && npm run format

bench: $(DEV) ## measure against peers and write docs/explain/performance.md; BENCH=drain asks one question
	$(BIN)/python -m benchmarks $(BENCH)

chaos: $(DEV) ## faults on real processes; SETUP=sqlite SEED=2 JOBS=100000 MINUTES=10
	$(BIN)/python -m tests.chaos $(SETUP) --seed $(SEED) --jobs $(JOBS) --minutes $(MINUTES) \
		--workers 4 --backlog 500 --disk 4000 --page

# The locks name no registry: who installs decides where packages come from.
COMPILE := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --upgrade

lock: $(UV) ## bring the locks in requirements/ to the newest versions that pyproject.toml allows
	$(COMPILE) --group build --output-file requirements/build.txt
	$(COMPILE) pyproject.toml --extra mysql --output-file requirements/run.txt
	$(COMPILE) pyproject.toml --extra encryption --extra mysql --extra otel --extra uvloop --group dev \
		--constraints requirements/run.txt --output-file requirements/dev.txt

clean: ## remove the environment, caches and the demo's database
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist
	rm -rf ui/dist ui/node_modules
	rm -f demo.db demo.db-*

$(UI): $(UI_SOURCES) $(NODE_MODULES)
	cd ui && npm run build
	touch $@

$(NODE_MODULES): ui/package-lock.json
	@command -v npm >/dev/null || { echo 'The dashboard is built with Node.js 20.19 or newer: install it.' >&2; exit 1; }
	cd ui && npm ci
	touch $@

# uv is five times as fast as pip, but reads none of pip's settings: where those matter
# (a mirror, a proxy's certificate), pip does the work.
$(DEV): requirements/dev.txt pyproject.toml | $(UV)
	$(UV) pip sync --quiet --python $(BIN)/python --compile-bytecode --require-hashes $< \
		|| $(BIN)/pip install --quiet --require-hashes --requirement $<
	$(INSTALL_WINDLASS)
	touch $(DEV) $(RUN)

$(RUN): requirements/run.txt pyproject.toml | $(UV)
	$(UV) pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes --requirements $< \
		|| $(BIN)/pip install --quiet --require-hashes --requirement $<
	$(INSTALL_WINDLASS)
	touch $@

$(UV): requirements/build.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo 'Windlass needs Python 3.11 or newer; name one with PYTHON=…' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
		root=$$([ "$$(id -u)" = 0 ] || echo sudo); \
		$$root apt-get update -q && $$root apt-get install -q -y python3-venv; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement $<
	touch $@
