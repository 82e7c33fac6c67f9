# Everything needs only Python >= 3.11, pip and make; `make help` lists the targets.

PYTHON ?= python3
VENV   ?= .venv
DATA   ?= $(BOCHNER_DATA)
OUT    ?= docs/results
JOBS   ?= auto

BIN    := $(VENV)/bin
FLAGS   = $(if $(DATA),--data "$(DATA)")
# With one test process a core, threads inside each would only fight over the cores.
SERIAL := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# Neighbouring tests, which share fixtures, run in one process; one that is done takes over others.
WORKERS = -n $(JOBS) --dist worksteal

# Tests of what the oldest dependencies could break; others compare words, and scikit-learn's checks
# are those of a later version.
LOWEST := tests/kernels/test_kernels.py tests/fuzz/test_model_files.py \
          tests/files/test_model_file_round_trip.py tests/series/test_forecaster.py \
          tests/features/test_transformer.py tests/cli/test_json.py tests/cli/test_shell.py \
          tests/tables/test_sensitivity.py tests/files/test_identifiers.py \
          tests/files/test_local_dates.py tests/files/test_local_numbers.py

# Tests with other libraries, which are passed over where those are not installed.
ECOSYSTEM := tests/adapters/test_mapie.py tests/files/test_pickle_and_skops.py

# Tests with torch, which are passed over where it is not installed.
TORCH := tests/adapters

# Modules whose examples need libraries that `make test` does not install.
ADAPTERS := adapters/torch.py

.PHONY: help demo test test-all test-slow test-bounds test-ecosystem test-torch coverage lint types imports doctest check docs dist lowest audit \
        bench bench-published bench-real bench-unlike bench-text bench-reading bench-seconds bench-forecasts bench-competitions bench-intermittent bench-panels bench-gaussian bench-schemes bench-indefinite bench-asymmetric bench-attention bench-bank bench-gabasr bench-digmm bench-processes bench-glm bench-evidence bench-first bench-speed bench-many bench-payoff clean

help:  ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-15s %s\n", $$1, $$2}'

demo: $(VENV)/.demo  ## Fit a table of life expectancy with its report, into demo/
	$(BIN)/bochner demo --out demo

test: $(VENV)/.test  ## Run the quicker tests, in five minutes on two cores; more options in PYTEST_FLAGS
	$(SERIAL) $(BIN)/python -m pytest -q $(WORKERS) $(PYTEST_FLAGS)

test-all: $(VENV)/.test  ## Run all tests but those marked slow
	$(SERIAL) $(BIN)/python -m pytest -q $(WORKERS) -m "not slow" $(PYTEST_FLAGS)

test-slow: $(VENV)/.test  ## Run the tests marked slow
	$(SERIAL) $(BIN)/python -m pytest -q $(WORKERS) -m slow $(PYTEST_FLAGS)

test-bounds: $(VENV)/.test  ## Try 30,000 changed model files while compiled loops check the bounds of their arrays
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/bounds $(BIN)/python -m pytest -q $(WORKERS) -m "slow or not slow" tests/fuzz/test_model_files.py tests/fuzz/test_rewritten_files.py tests/files/test_trial.py $(PYTEST_FLAGS)

test-ecosystem: | $(BIN)/python  ## Run the tests with MAPIE and skops in an environment of their own
	$(PYTHON) -m venv $(VENV)/ecosystem
	$(VENV)/ecosystem/bin/python -m pip install --quiet --editable '.[ecosystem]'
	$(SERIAL) $(VENV)/ecosystem/bin/python -m pytest -q -p no:cacheprovider -m "slow or thorough or not slow" $(ECOSYSTEM)

# torch by itself first: the version that the tests are made for, and one download to watch.
test-torch: | $(BIN)/python  ## Run the tests of torch modules, in an environment of their own
	$(PYTHON) -m venv $(VENV)/torch
	$(VENV)/torch/bin/python -m pip install --quiet torch==2.13.0
	$(VENV)/torch/bin/python -m pip install --quiet --editable '.[torch,test]'
	$(SERIAL) $(VENV)/torch/bin/python -m pytest -q -p no:cacheprovider -m "not slow" $(TORCH) $(PYTEST_FLAGS)
	$(SERIAL) $(VENV)/torch/bin/python -m pytest -q -p no:cacheprovider --doctest-modules src/bochner/adapters/torch.py

coverage: $(VENV)/.test  ## Run the tests and report the lines they miss
	$(SERIAL) $(BIN)/python -m pytest -q $(WORKERS) -m "not slow" --cov $(PYTEST_FLAGS)

doctest: $(VENV)/.test  ## Run the examples in the docstrings
	$(SERIAL) $(BIN)/python -m pytest -q $(WORKERS) --doctest-modules src/bochner $(addprefix --ignore src/bochner/,$(ADAPTERS))

lint: $(VENV)/.lint  ## Check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.lint  ## Check types
	$(BIN)/mypy

imports: $(VENV)/.lint  ## Check that imports follow the order of the rooms
	$(BIN)/lint-imports

check: lint types imports test-all doctest docs  ## All of the above

docs: $(VENV)/.docs  ## Build the documentation into docs/_build/html; pages and examples that did not change are kept
	$(SERIAL) $(BIN)/sphinx-build -W --keep-going -q -j $(JOBS) -b html docs docs/_build/html
	$(BIN)/python .ci/site.py docs/_build/html

dist: | $(BIN)/python  ## Build the wheel and the source distribution, and try each in an empty environment
	rm -rf dist
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python -m build --outdir dist .
	for file in dist/*.whl dist/*.tar.gz; do \
	    rm -rf $(VENV)/dist && $(PYTHON) -m venv $(VENV)/dist && \
	    $(VENV)/dist/bin/python -m pip install --quiet "$$file" && \
	    (cd dist && $(abspath $(VENV))/dist/bin/python -I $(abspath .ci/core_only.py) $(abspath $(VENV))/dist/bin/bochner) || exit 1; \
	done

lowest: | $(BIN)/python  ## Test laws, files, forecasts and commands with the oldest dependencies that pyproject.toml allows
	rm -rf $(VENV)/lowest && $(PYTHON) -m venv $(VENV)/lowest
	$(VENV)/lowest/bin/python -m pip install --quiet uv
	$(VENV)/lowest/bin/uv pip compile --quiet --resolution lowest-direct pyproject.toml \
	    --extra cli --output-file $(VENV)/lowest/oldest.txt
	$(VENV)/lowest/bin/uv pip install --quiet --python $(VENV)/lowest/bin/python \
	    --requirement $(VENV)/lowest/oldest.txt pytest pytest-xdist hypothesis mpmath polars
	$(VENV)/lowest/bin/uv pip install --quiet --python $(VENV)/lowest/bin/python --no-deps --editable .
	NUMBA_CACHE_DIR=$(abspath $(VENV))/lowest/loops $(SERIAL) $(VENV)/lowest/bin/python -m pytest -q $(WORKERS) -p no:cacheprovider -W ignore $(LOWEST)

audit: | $(BIN)/python  ## Look for known vulnerabilities of what is installed
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/python -m pip_audit --skip-editable

bench: bench-published bench-real bench-unlike bench-text bench-reading bench-seconds bench-forecasts bench-competitions bench-intermittent bench-panels bench-gaussian bench-schemes bench-indefinite bench-asymmetric bench-attention bench-bank bench-gabasr bench-digmm bench-processes bench-glm bench-evidence bench-first bench-speed bench-many bench-payoff  ## Run every benchmark; DATA=folder of data sets, OUT=results

bench-published: $(VENV)/.bench  ## Errors, densities and intervals on published splits and folds, next to other methods
	$(BIN)/python -m benchmarks published $(FLAGS) --out "$(OUT)"

# torch by itself first: the build for CPUs, where an index has one. METHODS="--only bochner" measures one method.
bench-real: | $(BIN)/python  ## Tables with categories, dates and gaps, next to boosted trees, networks and AutoGluon, in an environment of their own; hours
	$(PYTHON) -m venv $(VENV)/opponents
	$(VENV)/opponents/bin/python -m pip install --quiet torch==2.13.0
	$(VENV)/opponents/bin/python -m pip install --quiet --editable '.[opponents]'
	$(VENV)/opponents/bin/python -m benchmarks real $(FLAGS) $(METHODS) --out "$(OUT)"

bench-unlike: | $(BIN)/python  ## Rows unlike the training rows, next to CatBoost, conformal intervals of MAPIE, NGBoost and exact processes, in an environment of their own; an hour and a half
	$(PYTHON) -m venv $(VENV)/unlike
	$(VENV)/unlike/bin/python -m pip install --quiet --editable '.[unlike]'
	$(VENV)/unlike/bin/python -m benchmarks unlike $(FLAGS) $(METHODS) --out "$(OUT)"

bench-text: $(VENV)/.forecasts  ## Tables with free text, read by its parts or left out; some minutes
	$(BIN)/python -m benchmarks text $(FLAGS) --out "$(OUT)"

bench-seconds: | $(BIN)/python  ## Where the seconds of a fit go, next to CatBoost and LightGBM, and to the version whose src folder BOCHNER_BEFORE names; half an hour
	$(PYTHON) -m venv $(VENV)/opponents
	$(VENV)/opponents/bin/python -m pip install --quiet --editable '.[opponents]'
	$(VENV)/opponents/bin/python -m benchmarks seconds $(FLAGS) $(METHODS) --out "$(OUT)"

bench-reading: $(VENV)/.forecasts  ## Seconds and memory of reading files, next to pyarrow and pandas; some minutes
	$(BIN)/python -m benchmarks reading $(FLAGS) --out "$(OUT)"

bench-forecasts: $(VENV)/.forecasts  ## Forecasts from several origins, next to other methods
	$(BIN)/python -m benchmarks forecasts $(FLAGS) --out "$(OUT)"

bench-competitions: $(VENV)/.forecasts  ## Series of the M3 and M4 competitions, next to other methods
	$(BIN)/python -m benchmarks competitions $(FLAGS) --out "$(OUT)"

bench-panels: $(VENV)/.forecasts  ## Short series of panels, fitted together and one by one, next to other methods
	$(BIN)/python -m benchmarks panels $(FLAGS) --out "$(OUT)"

bench-intermittent: $(VENV)/.forecasts  ## Counts that are mostly zero, next to methods for intermittent demand
	$(BIN)/python -m benchmarks intermittent $(FLAGS) --out "$(OUT)"

bench-gaussian: $(VENV)/.demo  ## Error of the Gaussian Gram matrix, by sampling scheme
	$(BIN)/python -m benchmarks gaussian $(FLAGS) --out "$(OUT)"

bench-schemes: $(VENV)/.demo  ## Errors of features, and of regressions on them, by sampling scheme
	$(BIN)/python -m benchmarks schemes $(FLAGS) --out "$(OUT)"

bench-indefinite: $(VENV)/.demo  ## Features of indefinite kernels, next to other methods
	$(BIN)/python -m benchmarks indefinite $(FLAGS) --out "$(OUT)"

bench-asymmetric: $(VENV)/.demo  ## Features of asymmetric kernels, next to other methods
	$(BIN)/python -m benchmarks asymmetric $(FLAGS) --out "$(OUT)"

bench-bank: $(VENV)/.demo  ## Learned kernels, next to other methods; about two hours
	$(BIN)/python -m benchmarks bank $(FLAGS) --out "$(OUT)"

bench-gabasr: $(VENV)/.demo  ## Learned kernels that are locally stationary, next to other methods; about an hour and a half
	$(BIN)/python -m benchmarks gabasr $(FLAGS) --out "$(OUT)"

bench-digmm: $(VENV)/.demo  ## Mixtures learned from similarities of few rows, next to other methods; about two hours
	$(BIN)/python -m benchmarks digmm $(FLAGS) --out "$(OUT)"

bench-processes: | $(BIN)/python  ## Gaussian processes on draws and tables, next to scikit-learn, GPyTorch and BoTorch, in an environment of their own; two hours
	$(PYTHON) -m venv $(VENV)/processes
	$(VENV)/processes/bin/python -m pip install --quiet torch==2.13.0
	$(VENV)/processes/bin/python -m pip install --quiet --editable '.[processes]'
	$(SERIAL) $(VENV)/processes/bin/python -m benchmarks processes $(FLAGS) $(METHODS) --out "$(OUT)"

bench-glm: | $(BIN)/python  ## Counts, ordered, censored and heavy-tailed targets, next to statsmodels and GPyTorch, in an environment of their own; a quarter of an hour
	$(PYTHON) -m venv $(VENV)/glm
	$(VENV)/glm/bin/python -m pip install --quiet torch==2.13.0
	$(VENV)/glm/bin/python -m pip install --quiet --editable '.[glm]'
	$(SERIAL) $(VENV)/glm/bin/python -m benchmarks glm $(FLAGS) $(METHODS) --out "$(OUT)"

bench-attention: $(VENV)/.bench  ## Positive features for attention; some minutes
	$(BIN)/python -m benchmarks attention $(FLAGS) --out "$(OUT)"

bench-evidence: $(VENV)/.bench  ## Length scales by the gradient of the evidence, next to exact and sparse processes; about an hour
	$(BIN)/python -m benchmarks evidence $(FLAGS) --out "$(OUT)"

bench-first: $(VENV)/.bench  ## Seconds of imports, of help and of first fits after installation; some minutes
	$(BIN)/python -m benchmarks first $(FLAGS) --out "$(OUT)"

bench-many: $(VENV)/.bench  ## Tables of up to a million rows, next to other methods; about an hour
	$(BIN)/python -m benchmarks many $(FLAGS) --out "$(OUT)"

bench-payoff: $(VENV)/.demo  ## Errors of ridge regression at equal seconds, by scheme and with landmarks; three quarters of an hour
	$(BIN)/python -m benchmarks payoff $(FLAGS) --out "$(OUT)"

bench-speed: $(VENV)/.test  ## Seconds of features and ridge regression, next to other methods and the machine's limits
	$(BIN)/python -m benchmarks speed $(FLAGS) --out "$(OUT)"

clean:  ## Remove everything that was built, and the environment
	rm -rf $(VENV) build dist docs/_build docs/api/generated docs/gallery \
	    .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage
	find src benchmarks tests docs -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp for each purpose says that its extras are installed.
$(VENV)/.demo: EXTRAS := cli,plot
$(VENV)/.test: EXTRAS := test
$(VENV)/.lint: EXTRAS := lint
$(VENV)/.docs: EXTRAS := docs
$(VENV)/.bench: EXTRAS := bench
$(VENV)/.forecasts: EXTRAS := forecasts

$(VENV)/.demo $(VENV)/.test $(VENV)/.lint $(VENV)/.docs $(VENV)/.bench $(VENV)/.forecasts: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]'
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "bochner needs Python 3.11 or later; '$(PYTHON)' is missing or older." \
	         "Name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
