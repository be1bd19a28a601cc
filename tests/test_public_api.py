"""The public names: a snapshot, and that each is there when asked for."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

import certdp

_NAMES = """
ADD_REMOVE CONTRACT_VERSION ELEMENT PURE RECORD REPLACE About AddRemove Assumption CertdpError Claim Coins Count Delta
Derivation Element Enclosure Epsilon Evidence Expression Full Gain Guarantee Importance InvalidType InvalidValue
LaplaceSum Measurement Mechanism NoFiniteSupremum NoPureValue Norm NormBall Notion Order Outside OutsideDomain
PluginError Poisson Private PrivateValue Probability Public Pure PureLoss PureProfile Reading Record Registry Relation
Released RenyiLoss Replace Role SampledMechanism Sampler SamplingRate Sensitivity Supremum Theorem Truth Undecided
Unit User Verdict W Weight WeightedSample can_sampling_improve check compose compose_profiles decide draw
example_records for_groups norm psi psi_add publish read_records supremum theorem_6
"""
SNAPSHOT = _NAMES.split()


def test_the_snapshot() -> None:
    """A change here is a change for every user: note it in the changelog."""
    assert list(certdp.__all__) == SNAPSHOT


def test_the_names_are_sorted_and_each_is_there_once() -> None:
    def order(name: str) -> tuple[int, str]:
        return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2), name

    assert list(certdp.__all__) == sorted(set(certdp.__all__), key=order)


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


def test_star_import_brings_exactly_them() -> None:
    program = "before = set(dir()); from certdp import *; print(*sorted(set(dir()) - before - {'before'}))"
    assert in_a_fresh_interpreter(program).split() == sorted(SNAPSHOT)


def test_dir_lists_them_before_any_is_loaded() -> None:
    program = "import certdp, sys; print('certdp.sampled' in sys.modules, *dir(certdp))"
    loaded, *names = in_a_fresh_interpreter(program).split()
    assert loaded == "False"
    assert set(SNAPSHOT) <= set(names)
    assert names == sorted(set(names))


def test_what_is_loaded_lazily_is_what_the_type_checkers_see() -> None:
    assert sorted(certdp._HOME_OF) == sorted(SNAPSHOT)


@pytest.mark.parametrize("name", ["LaplaceSums", "numpy", "_private", "annotations_"])
def test_an_unknown_name(name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'certdp' has no attribute '{name}'"):
        getattr(certdp, name)
    with pytest.raises(ImportError, match=name):
        exec(f"from certdp import {name}")


def test_submodules_are_reached_by_import() -> None:
    program = "import certdp.plugins.contract as c, certdp; print(certdp.plugins.contract is c, c.CONTRACT_VERSION)"
    assert in_a_fresh_interpreter(program).split() == ["True", "1"]
