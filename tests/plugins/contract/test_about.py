"""Identity and standing of a plugin."""

from __future__ import annotations

from typing import Any

import pytest

from certdp.accounting.derivation import CLIPPED_RECORDS, Assumption, Evidence
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.relations import ADD_REMOVE, RECORD, User
from certdp.mechanisms.count import Count
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.plugins.contract import CONTRACT_VERSION, About
from certdp.samplers.full import Full
from certdp.samplers.importance import Importance
from certdp.samplers.poisson import Poisson

STANDING: dict[str, Any] = {
    "name": "noisy-mean",
    "version": "1.2",
    "contract": CONTRACT_VERSION,
    "evidence": Evidence.CITED,
    "citation": "A paper, Theorem 1",
}


def test_a_declaration_carries_evidence_and_constants() -> None:
    noise = Assumption("real-valued noise")
    about = About(**{**STANDING, "evidence": Evidence.PROVED}, assumptions=(noise,))
    derivation = about.declaration("mechanism", {"scale": "1/10"})
    assert str(derivation) == "declaration noisy-mean 1.2"
    assert set(derivation.assumptions) == {
        Assumption("evidence of mechanism noisy-mean", "proved"),
        Assumption("mechanism.scale", "1/10"),
        noise,
    }


def test_a_cited_declaration_says_what_is_assumed() -> None:
    assumed = About(**STANDING).declaration("mechanism", {}).assumptions
    assert Assumption("evidence of mechanism noisy-mean", "cited") in assumed
    assert Assumption("profile assumed", "noisy-mean") in assumed


def test_a_heuristic_declaration_supports_no_guarantee() -> None:
    about = About(**{**STANDING, "evidence": Evidence.HEURISTIC})
    with pytest.raises(
        InvalidValue, match="evidence of sampler noisy-mean: got heuristic; admissible: proved or cited"
    ):
        about.declaration("sampler", {})


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("name", "Noisy"),
        ("name", "noisy mean"),
        ("name", "noisy--mean"),
        ("name", "1st"),
        ("name", "noisy\n"),
        ("name", None),
        ("version", ""),
        ("version", 1),
        ("contract", "1"),
        ("contract", True),
        ("evidence", "proved"),
        ("citation", " "),
        ("unit", "record"),
        ("relations", ()),
        ("relations", [ADD_REMOVE]),
        ("relations", ("add-remove",)),
    ],
)
def test_each_part_is_checked_and_named(part: str, value: Any) -> None:
    with pytest.raises(InvalidValue) as caught:
        About(**{**STANDING, part: value})
    assert caught.value.parameter == part
    assert caught.value.admissible


def test_defaults_are_those_of_the_papers() -> None:
    about = About(**STANDING)
    assert (about.unit, about.relations) == (RECORD, (ADD_REMOVE,))
    assert About(**STANDING, unit=User(contributions=3)).unit == User(contributions=3)


@pytest.mark.parametrize("plugin", [Count, LaplaceSum, Full, Importance, Poisson])
def test_the_built_in_plugins_speak_this_contract(plugin: Any) -> None:
    assert plugin.about.contract == CONTRACT_VERSION
    assert plugin.about.evidence is Evidence.PROVED


def test_an_option_that_brings_an_assumption() -> None:
    """It is assumed where the option is stated, and there alone."""
    about = About(**STANDING, assumed_with=(("noise_multiplier", CLIPPED_RECORDS),))
    assert CLIPPED_RECORDS in about.declaration("mechanism", {"noise_multiplier": "2"}).assumptions
    assert CLIPPED_RECORDS not in about.declaration("mechanism", {"scale": "2"}).assumptions


@pytest.mark.parametrize(
    "pairs", [[("a", CLIPPED_RECORDS)], (CLIPPED_RECORDS,), (("a", "clipping"),), ((1, CLIPPED_RECORDS),)]
)
def test_what_is_assumed_with_an_option_is_an_assumption(pairs: Any) -> None:
    with pytest.raises(InvalidType, match="assumed_with"):
        About(**STANDING, assumed_with=pairs)
