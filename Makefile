# `make run` and `make test` need only make and Python >= 3.11; all else goes into .venv.

PYTHON := .venv/bin/python
CERTIFICATE := run/laplace-sum.importance.json
RUN_COMMAND := certdp psi --mechanism laplace-sum --sampler importance \
  --option scale=1 --option rate=0.3 --option norm=1 --option radius=5 --certificate $(CERTIFICATE)
CHECK_COMMAND := certdp check $(CERTIFICATE)
CHECKED := tests/test_layering.py tests/test_typing.py
WORKERS := --numprocesses auto --maxprocesses 4 --dist loadgroup
# Where not all cases of a test run, the rotation chooses which, and slow tests take turns; the soundness runs have what
# that leaves out, and take one in ONE_IN of their tests.
ROTATION := 0
TURNS := 4
ONE_IN := 1
LEAVE_OUT :=
PYTEST := $(PYTHON) -m pytest $(WORKERS) --rotation $(ROTATION) --turns $(TURNS)

# The build of PyTorch for the processor; where that is none of its own, as on macOS: make test-torch TORCH=torch
TORCH := torch==2.13.0+cpu
TORCH_INDEX := https://download.pytorch.org/whl/cpu
TORCH_TESTS := tests/dpis/torch_models src/certdp/dpis/torch

ENGINES := 'dask[dataframe]>=2024.8' 'distributed>=2024.8' 'psycopg[binary]>=3.1' 'pyspark>=3.5'

# An environment that does not start, or that serves another checkout (it was moved or copied), is built anew.
SERVES_THIS_CHECKOUT := import importlib.util, os, sys; \
  spec = importlib.util.find_spec("certdp"); \
  sys.exit(spec is None or not os.path.samefile(spec.origin, "src/certdp/__init__.py"))
STALE := $(shell $(PYTHON) -I -c '$(SERVES_THIS_CHECKOUT)' >/dev/null 2>&1 || echo stale)

# Compiled modules, rewritten tests among them, are kept, and kept out of the working tree.
unexport PYTHONDONTWRITEBYTECODE
quick test test-torch test-engines check soundness: export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/bytecode

.NOTPARALLEL:
.PHONY: run quick test test-torch test-engines check soundness bench experiments kernels docs clean rebuild

run: .venv/installed-all
	@mkdir -p $(dir $(CERTIFICATE))
	.venv/bin/$(RUN_COMMAND)
	.venv/bin/$(CHECK_COMMAND)
	@echo "The certificate lies in $(CERTIFICATE)"

# For a developer's own loop: less than two minutes, once the types are in mypy's cache. `make test` is the whole.
# A test that the summary names takes too long for this loop: mark it as slow.
quick: .venv/installed-test
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(PYTEST) -m quick --durations 10 --durations-min 3

test: check
	$(PYTEST) $(CHECKED:%=--ignore=%)

# What needs PyTorch, in an environment that sees that of the other tests and adds it.
test-torch: .venv/installed-test
	@$(MAKE) --no-print-directory --silent .venv-torch/installed || { \
	  echo "SKIPPED: the tests of certdp.dpis.torch, because $(TORCH) could not be installed" >&2; exit 0; } && \
	if test -e .venv-torch/installed; then .venv-torch/bin/python -m pytest $(WORKERS) $(TORCH_TESTS); fi

# What needs programs of the system's packages, Java and PostgreSQL, and Spark and Dask in an environment of their own.
test-engines: .venv/installed-test
	@$(MAKE) --no-print-directory --silent .venv-engines/installed
	CERTDP_ENGINES=1 .venv-engines/bin/python -m pytest -rs tests/engines \
	  'tests/test_documents.py::test_python_prints_what_the_page_says[docs/scale.md]'

check: .venv/installed-test
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy & types=$$! && $(PYTHON) -m pyright --pythonpath $(PYTHON) && wait $$types
	$(PYTEST) $(CHECKED)

# What `make test` leaves out: cases, examples, long runs, and the second type checker on the tests.
soundness: .venv/installed-test
	$(PYTHON) -m pyright --pythonpath $(PYTHON) tests
	$(PYTEST) -m 'soundness or hypothesis' --hypothesis-profile all --one-in $(ONE_IN) $(LEAVE_OUT)

# PEER_PYTHON is an interpreter that has dp-accounting, Opacus (without its dependencies) and certdp's own; dp-accounting
# needs an older attrs than certdp, hence an environment apart.
bench: .venv/installed-test kernels
	$(PYTHON) benchmarks/startup.py 15 $(PEER_PYTHON)
	$(PYTHON) benchmarks/bulk_psi.py
	$(PYTHON) benchmarks/enclosures.py
	$(PYTHON) benchmarks/supremum.py
	$(PYTHON) benchmarks/ledger.py
	$(PYTHON) benchmarks/sampled_gaussian.py
	$(PYTHON) benchmarks/bulk_amplification.py
	$(PYTHON) benchmarks/accountants.py
	$(PYTHON) benchmarks/individual.py
	$(PYTHON) benchmarks/feasible_weights.py
	$(PYTHON) benchmarks/lloyd.py
	$(PYTHON) benchmarks/streaming.py
	$(PYTHON) benchmarks/key_reporting.py
	$(PYTHON) benchmarks/dpis_accounting.py
	$(PYTHON) benchmarks/noise.py
	$(PYTHON) benchmarks/allocation.py
	$(if $(PEER_PYTHON),$(PYTHON) benchmarks/peer_uniform.py $(PEER_PYTHON),\
	  @echo "Left out: dp-accounting and Opacus, unless PEER_PYTHON names an interpreter that has them")
	$(if $(PEER_PYTHON),$(PYTHON) benchmarks/peer_sampled_gaussian.py $(PEER_PYTHON))
	$(if $(TORCH_PYTHON),$(TORCH_PYTHON) benchmarks/dpis_step.py,\
	  @echo "Left out: training steps, unless TORCH_PYTHON names an interpreter that has certdp[torch]")

# Every figure and table of the papers, on the data in the folder CERTDP_DATA or on stand-ins, and the tables of the
# document from it: hours, which go on where they stopped.
experiments: .venv/installed-all
	@mkdir -p run
	$(PYTHON) -m certdp experiments $(if $(CERTDP_DATA),--data-folder "$(CERTDP_DATA)" --page docs/experiments.md) \
	  --output run/experiments

# What hatch_build.py adds to a wheel; it serves as long as the sources of the kernels stay as they are.
kernels: .venv/installed-test
	$(PYTHON) hatch_build.py accounting/_kernels/ahead.zip

# NO_MKDOCS_2_WARNING silences the theme's notice about a program that is not in use here.
docs: .venv/installed-docs
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --quiet
	@echo "The documentation lies in run/site; with a search: $(PYTHON) -m http.server --directory run/site"

clean:
	rm -rf .venv .venv-engines .venv-torch build dist run

.venv/installed-%: pyproject.toml .venv/pyvenv.cfg
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@

# An environment that sees that of the other tests, and adds to it.
SEES_THE_OTHER := import site; site.addsitedir("$(CURDIR)/.venv/lib/python%s/site-packages")
define beside
	rm -rf $(@D)
	$(PYTHON) -m venv --without-pip $(@D)
	$(@D)/bin/python -c 'import sys, sysconfig; \
	  version = "%d.%d" % sys.version_info[:2]; \
	  open(sysconfig.get_path("purelib") + "/other.pth", "w").write("""$(SEES_THE_OTHER)\n""" % version)'
endef

.venv-torch/installed: .venv/installed-test
	$(beside)
	$(PYTHON) -m pip --python .venv-torch/bin/python install --quiet --disable-pip-version-check '$(TORCH)' || \
	  $(PYTHON) -m pip --python .venv-torch/bin/python install --quiet --disable-pip-version-check \
	    --extra-index-url $(TORCH_INDEX) '$(TORCH)'
	@touch $@

.venv-engines/installed: .venv/installed-test
	$(beside)
	for one in $(ENGINES); do \
	  $(PYTHON) -m pip --python .venv-engines/bin/python install --quiet --disable-pip-version-check "$$one" || \
	    echo "SKIPPED: the tests that need $$one, which could not be installed" >&2; \
	done
	@touch $@

.venv/pyvenv.cfg: $(if $(STALE),rebuild)
	@for python in python3 python3.13 python3.12 python3.11; do \
	  if $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "Building .venv with $$($$python --version)"; \
	    rm -rf .venv && exec $$python -m venv .venv; \
	  fi; \
	done; \
	echo "certdp needs Python 3.11 or newer with its venv module: none found on PATH" >&2; exit 1
