# The commands of the suite. Each sets up what it needs first; `make help` lists them.

VENV ?= .venv
JOBS ?= 2
ARGS ?=

# The lock file is tested with 3.11, so that comes first.
CANDIDATES := python3.11 python3.12 python3.13 python3 python
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for candidate in $(CANDIDATES); do \
	$$candidate -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$candidate && break; done)

PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
PIP := $(PY) -m pip --disable-pip-version-check -q

# The stamp holds the checkout's path: an environment that was moved, or whose interpreter
# has gone, is built anew, and one older than the two files below is topped up.
HEALTHY := $(shell $(PY) -c '' 2>/dev/null && cat $(STAMP) 2>/dev/null)
ifneq ($(HEALTHY),$(CURDIR))
REBUILD := rebuild
endif

.DEFAULT_GOAL := help
.PHONY: help setup train test test-slow bench lint format lock clean rebuild

help: ## list these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /|/' \
		| awk -F'|' '{printf "  make %-10s %s\n", $$1, $$2}'
	@echo "Options: ARGS=\"...\" is handed on, JOBS=2 test processes, VENV=.venv, PYTHON=python3.11"

setup: $(STAMP) ## create or update the virtual environment
	@:

train: $(STAMP) ## train on OpenCleanup, quick on a CPU (ARGS="scale=full seed=1")
	$(PY) algorithms/ippo_rl2.py env=cleanup $(ARGS)

test: $(STAMP) ## run the tests (ARGS="-k beam")
	$(PY) -m pytest -n $(JOBS) --dist worksteal $(ARGS)

test-slow: $(STAMP) ## run the tests that take minutes
	$(PY) -m pytest -m slow $(ARGS)

bench: $(STAMP) ## measure the environments' speed (ARGS="--quick --json bench.json")
	$(PY) -m osj_envs.bench $(ARGS)

lint: $(STAMP) ## check style, format and types
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: $(STAMP) ## sort imports and format the code
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

lock: ## resolve the newest versions afresh and write requirements.lock
	@rm -rf $(VENV)-lock
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip --disable-pip-version-check -q install '.[dev,viz]'
	$(VENV)-lock/bin/python -m pip freeze --exclude osj > $(VENV)-lock/pins
	mv $(VENV)-lock/pins requirements.lock
	@rm -rf $(VENV)-lock

clean: ## remove the virtual environment and the caches
	rm -rf $(VENV) .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks build dist

$(STAMP): requirements.lock pyproject.toml $(REBUILD)
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or newer among: $(CANDIDATES)." \
		"Install one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c '$(NEW_ENOUGH)' || { echo "error: $(PYTHON) does not run as Python 3.11 or newer." >&2; exit 1; }
	@echo "$(if $(REBUILD),Setting up $(VENV) with $$($(PYTHON) --version) (about a minute),Updating $(VENV))"
	@$(if $(REBUILD),rm -rf $(VENV) && $(PYTHON) -m venv $(VENV),true) || { \
		echo "error: $(PYTHON) -m venv failed; on Debian and Ubuntu, install python3-venv." >&2; exit 1; }
	@$(PIP) install -r requirements.lock
	@$(PIP) install --no-deps -e .
	@echo "$(CURDIR)" > $(STAMP)
