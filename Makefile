# `make demo` and `make test` are all a new user needs; both set up .venv by themselves.
PYTHON ?= python3
HERON_DATA ?= ../shared/data
HERON_ENCODER ?= ../shared/models/me5-small-he-ro
BIN := .venv/bin
# Compiled modules are kept, whatever the shell says: the tests start Python hundreds of times.
export PYTHONDONTWRITEBYTECODE :=
# Three processes share two cores in the tests, because some tests wait; more threads each would only
# fight. Tests of one file share what they train, so one process runs them all (loadfile),
# in the order of the folders, because the files with the fewest tests are not the fastest.
TEST_ENV := HF_HUB_OFFLINE=1 WANDB_MODE=offline OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false
BENCH = $(TEST_ENV) PYTHONPATH=tests/helpers$(addprefix :,$(PYTHONPATH)) HERON_DATA=$(abspath $(HERON_DATA)) \
	HERON_ENCODER=$(abspath $(HERON_ENCODER)) $(BIN)/python -m tests.benchmarks

.PHONY: demo test test-real test-cluster docs fuzz findings lint format bench lock update clean help

help:  ## list the targets
	@grep -E '^[a-z%-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

# The stamp is newer than requirements.txt once installed: a second run installs nothing. Python
# compiles the few modules that are imported; compiling all of them takes longer than the rest.
.venv/installed: requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python .ci/install.py
	@touch $@

demo: .venv/installed  ## train, score and draw on the built-in corpus, offline
	$(BIN)/heron demo

# Once after an installation (in .ci/run beside lint): the processes of the tests would each compile the same.
# The tests report what is wrong, so it is not reported here.
.venv/compiled: .venv/installed
	@echo "compiling what the tests import"
	@$(TEST_ENV) $(BIN)/python -m pytest -m "not real" --collect-only -q >/dev/null || true
	@touch $@

test: .venv/compiled  ## the fast tests
	$(TEST_ENV) $(BIN)/python -m pytest -m "not real" -n 3 --dist loadfile --no-loadscope-reorder

test-real: .venv/installed  ## what needs the papers' data and a pretrained encoder
	$(TEST_ENV) HERON_DATA=$(abspath $(HERON_DATA)) HERON_ENCODER=$(abspath $(HERON_ENCODER)) \
		$(BIN)/python -m pytest -m real -rs
	@$(BIN)/python -c "import hydra_plugins.hydra_joblib_launcher" 2>/dev/null || \
		echo "NOT TESTED: Hydra's launchers. $(BIN)/python -m pip install -e .[launchers], then again."

test-cluster: .venv/installed  ## on a SLURM of this machine, and on Ray
	@which slurmctld slurmd munged srun >/dev/null || echo "NOT TESTED: SLURM. apt-get install slurm-wlm, then again."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[launchers,ray]'
	$(TEST_ENV) $(BIN)/python -m pytest -m real -rs tests/cluster

.venv/docs: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

docs: .venv/docs  ## the pages as a web site, in runs/docs; a warning is an error
	$(BIN)/python -m sphinx -n -W --keep-going -q -c docs . runs/docs
	@echo runs/docs/index.html

bench: bench-training  ## heron's training step beside the Hugging Face Trainer's, on real text

bench-%: .venv/installed  ## one of tests/benchmarks, such as bench-rouge; bench-all: one table of most
	$(BENCH) $*

fuzz: .venv/installed  ## ten times the examples of each property test, new ones every time
	$(TEST_ENV) $(BIN)/python -m pytest -m "hypothesis and not real" --hypothesis-profile=fuzz -n 2

# Each script installs what it shows into a temporary folder; one may take minutes.
findings:  ## what surprised in other libraries: is it still so? needs a package index
	@changed=; for script in findings/*.sh; do echo "== $$script"; \
		bash $$script || changed="$$changed $$script"; done; \
		if [ -n "$$changed" ]; then echo "changed:$$changed"; exit 1; fi

lint: .venv/installed  ## style, types and layers
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports

format: .venv/installed  ## let ruff rewrite what it can
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .

.venv/uv: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[update]'
	@touch $@

lock: .venv/uv  ## write the lock files from the pins
	$(BIN)/python .ci/pins.py

update: .venv/uv  ## raise every pin, write the lock files, install them, run lint and tests
	$(BIN)/python .ci/pins.py raise
	@{ $(MAKE) .venv/installed && $(MAKE) lint && $(MAKE) test; } || { \
		echo "make update: the new versions fail. Find the package that breaks (git diff), put its old" \
			"version back, and run: make lock lint test. To undo everything: git checkout" \
			"requirements.txt pyproject.toml requirements.lock requirements-dev.lock"; exit 1; }

clean:  ## remove run folders and caches, keep the environment
	rm -rf runs cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
