PYTHON ?= python3
VENV := .venv
RUN := PATH="$(CURDIR)/$(VENV)/bin:$$PATH"
READY := $(VENV)/.ready
TARGET := figures/all
CORES := $(shell getconf _NPROCESSORS_ONLN)
# Those with the most code first, as their kernels take the longest.
PAPERS := $(shell du -s $(dir $(wildcard src/bestarm/*/strategies.py)) | sort -rn | cut -f 3 -d /)
KERNELS := $(PAPERS:%=kernels-%)

.DEFAULT_GOAL := help

# Many images tell Python to keep no bytecode; every start would then compile all that it imports.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup figures test test-long mutants lint kernels quick test-build verify verify-hashes resume \
    notebooks site test-site test-slurm crate test-crate release-check bench readme lock clean

# Times are those of README.md, which were measured (bench/bench.csv).
help: ## List the targets, how long each takes and what it does.
	@awk -F ' *[|] *' 'FNR == NR {if ($$2 ~ /^`(make [a-z-]+|bestarm verify)`$$/) {gsub(/`|make |bestarm /, "", $$2); \
	    time[$$2] = $$4}; next} /^[a-z-]+:.* ## / {name = $$0; sub(/:.*/, "", name); sub(/.* ## /, "", $$0); \
	    printf "%-14s %-7s %s\n", name, time[name], $$0}' README.md Makefile

setup: $(READY) ## Install hash-pinned packages into .venv.

figures: $(READY) ## Rebuild every figure, table and claim at paper scale.
	$(RUN) snakemake figures/all

quick: $(READY) ## The same at about a twentieth of the replications, under figures/quick.
	$(RUN) snakemake figures/quick/all

test-build: $(READY) ## Build both at once and test all papers, every file, every page; a second run does nothing.
	$(RUN) snakemake figures/quick/all site/index.html
	$(RUN) BESTARM_BUILD=figures/quick BESTARM_SITE=site python -m pytest tests/built

verify: $(READY) ## Simulate again at quick scale and check that the kept results are right.
	$(RUN) python -m bestarm verify

verify-hashes: quick ## Keep the hashes of the rows that `make verify` compares with.
	$(RUN) python -m bestarm workflow hashes

notebooks: $(READY) ## Run every notebook into a page under site/notebooks.
	$(RUN) snakemake notebooks

PYTEST := python -m pytest --numprocesses logical --dist loadscope --no-loadscope-reorder

# Linters first, as they take the longest.
test: $(READY) ## Lint, check formatting and types, run the tests but the long ones.
	$(MAKE) --jobs=$(CORES) lint $(KERNELS)
	$(RUN) $(PYTEST)

test-long: $(READY) ## What takes long: tests marked so, the site in Chromium, Slurm, planted faults.
	$(MAKE) kernels kernels-programs
	$(RUN) $(PYTEST) -m long
	$(MAKE) test-site
	$(MAKE) test-slurm SLURM_TARGET=figures/smoke/baics/all
	$(MAKE) mutants

mutants: $(READY) ## Plant faults one at a time; which test sees each? Writes bench/mutants.csv.
	$(RUN) PYTHONPATH=tests python -m mutants.run

lint: $(READY) ## Lint, check formatting and types.
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) snakefmt --check Snakefile workflow
	$(RUN) basedpyright
	$(RUN) check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(RUN) zizmor --offline --quiet .github/workflows
	$(RUN) reuse lint --quiet

# Tests that begin at once would each compile the same kernels.
kernels: $(READY) ## Compile the kernels of all papers into the cache.
	$(MAKE) --jobs=$(CORES) $(KERNELS)

kernels-%: $(READY)
	$(RUN) python -m bestarm workflow compile $*

# Of LAGEX's released programs, whose runs are kept: no build needs them.
kernels-programs: $(READY)
	$(RUN) python -c "from bestarm.lagex.released.program import warm_up; warm_up()"

resume: $(READY) ## Go on after the workflow itself was killed, with TARGET=figures/quick/all if wanted.
	# What `snakemake --unlock` does, without its seconds of start.
	rm -rf .snakemake/locks
	for folder in $(wildcard results figures site); do find $$folder -name '.*' -type f -delete; done
	$(RUN) snakemake $(TARGET)

site: $(READY) ## The replication site, from the committed figures: site/index.html.
	$(RUN) snakemake site/index.html

test-site: site ## Test the site in Chromium, which is installed (Debian) when missing.
	tests/debian.sh chromium chromium
	$(RUN) pip install --quiet --require-hashes --requirement tests/site/requirements.lock
	$(RUN) BESTARM_SITE=site python -m pytest tests/site

# What test-slurm builds; figures/smoke/baics/all takes minutes.
SLURM_TARGET := figures/quick/all

test-slurm: $(READY) ## Test the workflow on a Slurm (Debian's, installed when missing) started here.
	tests/debian.sh slurmctld slurm-wlm munge
	$(RUN) pip install --quiet --require-hashes --requirement tests/slurm/requirements.lock
	$(RUN) snakemake $(SLURM_TARGET)
	$(RUN) BESTARM_SLURM_TARGET=$(SLURM_TARGET) python -m pytest tests/slurm

# The build that `make crate` describes; figures/quick takes minutes.
BUILD := figures

crate: $(READY) ## Write an RO-Crate of a build under crate/: inputs, workflow, outputs, times.
	$(RUN) snakemake $(BUILD)/all
	$(RUN) python workflow/scripts/crate.py $(BUILD) crate

test-crate: crate ## Validate it, by a validator in an environment of its own.
	$(PYTHON) -m venv --without-pip $(VENV)/crate
	$(VENV)/bin/python -m pip --python $(VENV)/crate/bin/python install --quiet --no-compile \
	    --require-hashes --requirement tests/crate/requirements.lock
	$(VENV)/crate/bin/python tests/crate/validate.py crate

release-check: $(READY) ## Name what a release still lacks, and print the identifiers of what would be archived.
	$(RUN) python workflow/scripts/release_check.py

bench: $(READY) ## Measure speed and memory; writes bench/bench.csv.
	$(RUN) python bench/bench.py

readme: $(READY) ## Make the computed parts of README.md and docs/ anew.
	$(RUN) python -m bestarm workflow report

lock: $(READY) ## Pin the newest allowed packages again.
	$(RUN) pip install --quiet uv
	$(RUN) uv pip compile pyproject.toml --all-extras --universal --generate-hashes --upgrade \
	    --quiet --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	    --output-file requirements.lock
	$(RUN) uv pip compile tests/site/requirements.in --constraint requirements.lock --universal \
	    --generate-hashes --upgrade --quiet --no-emit-index-url --no-emit-find-links \
	    --custom-compile-command "make lock" --output-file tests/site/requirements.lock
	$(RUN) uv pip compile tests/slurm/requirements.in --constraint requirements.lock --universal \
	    --generate-hashes --upgrade --quiet --no-emit-index-url --no-emit-find-links \
	    --custom-compile-command "make lock" --output-file tests/slurm/requirements.lock
	$(RUN) uv pip compile tests/crate/requirements.in --universal --generate-hashes --upgrade --quiet \
	    --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	    --output-file tests/crate/requirements.lock

clean: ## Remove what a rebuild makes again, but not the committed figures.
	rm -rf results site crate figures/quick figures/smoke figures/all figures/*/all

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python >= 3.11 is needed, this is " + sys.version)'
	$(PYTHON) -m venv $(VENV)
	# Each module is compiled when it is first imported; most never are.
	$(VENV)/bin/python -m pip install --quiet --no-compile --require-hashes --requirement requirements.lock
	$(VENV)/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@
