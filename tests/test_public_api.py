"""The public names: those recorded, and that each is there when asked for."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import certdp

RECORD = Path(__file__).parents[1] / "docs/public_api.txt"
SNAPSHOT = re.findall(r"^certdp\.(\w+)(?![\w.])", RECORD.read_text("utf-8"), re.MULTILINE)


MODULES = [name for name in certdp.__all__ if isinstance(getattr(certdp, name), ModuleType)]


def test_the_snapshot() -> None:
    """A change here is a change for every user: note it in the changelog."""
    assert sorted([*certdp.__all__]) == sorted([*SNAPSHOT, *MODULES])
    assert len(SNAPSHOT) <= 94  # what most people need: the rest is in the modules


def test_the_names_are_sorted_and_each_is_there_once() -> None:
    assert list(certdp.__all__) == sorted(set(certdp.__all__))


@pytest.mark.parametrize("name", SNAPSHOT)
def test_every_name_is_there(name: str) -> None:
    value = getattr(certdp, name)
    assert value is getattr(certdp, name)
    assert not isinstance(value, ModuleType)
    home = getattr(value, "__module__", "certdp")
    assert home.startswith("certdp")


@pytest.mark.parametrize("name", [name for name in SNAPSHOT if name[0].isupper() and not name.isupper()])
def test_every_class_says_what_it_is(name: str) -> None:
    assert getattr(certdp, name).__doc__.strip()


def in_a_fresh_interpreter(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True
    ).stdout


@pytest.mark.slow
def test_star_import_brings_exactly_them() -> None:
    program = "before = set(dir()); from certdp import *; print(*sorted(set(dir()) - before - {'before'}))"
    assert in_a_fresh_interpreter(program).split() == sorted([*SNAPSHOT, *MODULES])


def test_a_base_installation_has_all_but_what_needs_more() -> None:
    program = """
import sys
for extra in ("sklearn", "joblib", "pyarrow", "matplotlib", "jinja2", "torch", "kymatio", "dp_accounting"):
    sys.modules[extra] = None
import certdp, inspect, pydoc
members = {name for name, _ in inspect.getmembers(certdp)}
assert set(certdp.__all__) <= members and len(pydoc.render_doc(certdp)) > 1000
before = set(dir())
from certdp import *
print(*sorted(set(dir()) - before - {"before"}))
try:
    certdp.DPKMeans
except ImportError as error:
    assert "pip install" in str(error)
else:
    raise AssertionError
"""
    assert set(in_a_fresh_interpreter(program).split()) == {*SNAPSHOT, *MODULES} - {"DPKMeans"}


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Gaussian", "certdp.GaussianSum"),
        ("Laplace", "certdp.LaplaceSum"),
        ("PureFilter", "certdp.filters.PureFilter"),
        ("SampledRuns", "certdp.SampledRun"),
        ("RDPAccountant", "certdp.accountants.Accountant"),
    ],
)
def test_a_name_that_is_not_there_suggests_what_comes_close(name: str, near: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(f"{near}") + r"(,|$)"):
        getattr(certdp, name)


def test_dir_lists_them_before_any_is_loaded() -> None:
    program = "import certdp, sys; print('certdp.runs.sampled' in sys.modules, *dir(certdp))"
    loaded, *names = in_a_fresh_interpreter(program).split()
    assert loaded == "False"
    assert set(SNAPSHOT) <= set(names)
    assert names == sorted(set(names))


def test_what_is_loaded_lazily_is_what_the_type_checkers_see() -> None:
    """The stub lists each name twice: where it comes from, and as public."""
    stub = ast.parse(Path(certdp.__file__).with_suffix(".pyi").read_text("ascii"))
    imported = [alias.name for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    (public,) = (ast.literal_eval(node.value) for node in stub.body if isinstance(node, ast.Assign))
    assert sorted(imported) == sorted(public) == sorted([*SNAPSHOT, *MODULES])


@pytest.mark.parametrize("name", ["LaplaceSums", "numpy", "_private", "annotations_"])
def test_an_unknown_name(name: str) -> None:
    with pytest.raises(AttributeError, match=f"No certdp attribute {name}"):
        getattr(certdp, name)
    with pytest.raises(ImportError, match=name):
        exec(f"from certdp import {name}")


def test_submodules_are_reached_by_import() -> None:
    program = "import certdp.plugins.contract as c, certdp; print(certdp.plugins.contract is c, c.CONTRACT_VERSION)"
    assert in_a_fresh_interpreter(program).split() == ["True", "1"]
