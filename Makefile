PYTHON ?= python3
VENV := .venv
RUN := PATH="$(CURDIR)/$(VENV)/bin:$$PATH"
READY := $(VENV)/.ready

.PHONY: figures test quick resume bench readme lock clean

figures: $(READY) ## Rebuild every figure, table and claim at paper scale.
	$(RUN) snakemake figures/all

quick: $(READY) ## The same at about a twentieth of the replications, under figures/quick.
	$(RUN) snakemake figures/quick/all

test: $(READY) ## Lint, check formatting and run the tests.
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) snakefmt --check Snakefile workflow
	$(RUN) python -m pytest

resume: $(READY) ## Go on after the workflow itself was killed.
	$(RUN) snakemake --unlock
	if [ -d results ]; then find results -name '.*' -type f -delete; fi
	$(RUN) snakemake figures/all

bench: $(READY) ## Measure speed and memory; writes bench/bench.csv.
	$(RUN) python bench/bench.py

readme: $(READY) ## Make the computed tables of README.md anew.
	$(RUN) python -m bestarm workflow report

lock: $(READY) ## Pin the newest allowed packages again.
	$(RUN) pip install --quiet uv
	$(RUN) uv pip compile pyproject.toml --extra test --universal --generate-hashes --upgrade \
	    --quiet --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	    --output-file requirements.lock

clean: ## Remove what a rebuild makes again, but not the committed figures.
	rm -rf results figures/quick figures/smoke figures/all figures/*/all

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python >= 3.11 is needed, this is " + sys.version)'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --require-hashes --requirement requirements.lock
	$(VENV)/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@
