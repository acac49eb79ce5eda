# Everyday commands. The first two set everything up by themselves; see README.md.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.installed
SYSTEM := slurm-wlm munge chromium chromium-driver

# The released swarms are in the report where they were looked at.
REPORTED = all $(if $(wildcard results/published/published_table),published)

# A process of tests per core; the tests of a file share what they set up.
WORKERS = --numprocesses auto --dist loadfile --no-loadscope-reorder

.PHONY: quick tiny board demo report gallery test test-fast lint format benchmarks lock system clean

quick: $(READY)  ## the main figure at the paper's dimensions, by the law measured on its authors' runs
	$(BIN)/snakemake figures/main_results.pdf --config scale=measured

board: $(READY)  ## every claim over the replicas of the measured law, and on all grounds: docs/claims.md
	for replica in config/scales/measured-*.yaml; do $(BIN)/snakemake claims --config scale=$$(basename $$replica .yaml) || exit 1; done
	$(BIN)/python -m olmix board

tiny: $(READY)  ## the main figure at the tiny scale
	$(BIN)/snakemake figures/main_results.pdf

demo: $(READY)  ## from text that every machine here has to a mix, then an update of it: results/mix/index.html
	test -f config/scales/demo.yaml || $(BIN)/python -m olmix init --demo --minutes 10
	$(BIN)/snakemake mix --config scale=demo
	grep -q add_readmes config/scales/demo.yaml || { cp -rp data/demo/later/readmes data/demo/source/ && $(BIN)/python -m olmix update demo; }
	$(BIN)/snakemake mix --config scale=demo

report: $(READY)  ## every figure and table on one page: report.html (runs what is missing)
	$(BIN)/snakemake $(REPORTED)
	$(BIN)/snakemake $(REPORTED) --report report.html

gallery: $(READY)  ## the pictures and numbers that README.md shows
	$(BIN)/snakemake cost --config scale=paper
	$(BIN)/snakemake cost
	$(BIN)/snakemake gallery --forcerun gallery
	$(BIN)/snakemake rule_graph --forcerun rule_graph

test: $(READY)  ## all tests
	$(BIN)/python -m pytest $(WORKERS)

test-fast: $(READY)  ## the tests that take seconds
	$(BIN)/python -m pytest $(WORKERS) -m "not slow"

lint: $(READY)  ## what CI checks before the tests
	$(BIN)/ruff check scripts tests envs
	$(BIN)/ruff format --check scripts tests envs
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix scripts tests envs
	$(BIN)/ruff format scripts tests envs
	$(BIN)/snakefmt Snakefile workflow

benchmarks: $(READY)  ## ratios measured side by side, one script after another
	for script in tests/benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script; done

lock:  ## resolve envs/requirements*.in again
	$(PYTHON) envs/lock.py

system:  ## system packages for tests that skip without them: SLURM, a browser
	@command -v apt-get > /dev/null || { echo "make system needs apt-get; install by hand: $(SYSTEM)" >&2; exit 1; }
	@[ "$$(id -u)" = 0 ] || { echo "make system needs root: sudo make system" >&2; exit 1; }
	dpkg -s $(SYSTEM) > /dev/null 2>&1 || { apt-get update --quiet && DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes --no-install-recommends $(SYSTEM); }

$(READY): envs/requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	@# Two at a time, the largest first: every version is pinned, and pip uses one core.
	grep -v '^#' envs/requirements.lock | sort -r | xargs -P 2 -n 24 $(BIN)/pip install --quiet --disable-pip-version-check --no-compile --no-deps
	@# Where pip's torch is the build for GPUs, it needs NVIDIA's libraries, whose versions it pins itself.
	$(BIN)/pip install --quiet --disable-pip-version-check "$$(grep '^torch==' envs/requirements.lock)"
	@# On every core, which pip does not; a file of torch's tests is for later Pythons only.
	$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $(READY)

clean:  ## remove what set-up and runs made
	rm -rf $(VENV) .snakemake .mypy_cache .pytest_cache .ruff_cache
