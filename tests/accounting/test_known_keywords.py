"""Calls with unknown names, or without what is needed, say what is taken: mechanisms, samplers, queries, runs."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

import certdp
from certdp import InvalidType, LaplaceSum, Public, queries
from certdp.accounting.errors import known_keywords
from certdp.plugins.registry import Registry, Role

REGISTRY = Registry(third_party=False)
PLUGINS = [REGISTRY.get(listing.role, listing.name) for listing in REGISTRY.listings(Role.MECHANISM, Role.SAMPLER)]
PARTS = [
    *(certdp.Budget, certdp.Continuous, certdp.KeyedRun, certdp.NormBall, certdp.PrivateWeightedSampling),
    *(certdp.PrivateWeightedSampling.within, certdp.ResampleEach, certdp.SampledRun, certdp.SampleOnce, certdp.Whole),
    *(certdp.Delta, certdp.Epsilon, certdp.Order, certdp.Public, certdp.Released, certdp.Ledger.create),
    *(certdp.calibrate, certdp.certificate, certdp.profile_certificate),
]
QUERIES = [
    value
    for name in queries.__all__
    if inspect.isfunction(value := getattr(queries, name)) or value in (queries.Category, queries.Column)
]
METHODS = [queries.Table.release, queries.Table.with_bounds, certdp.SampledRun.epsilon, certdp.SampledRun.delta]


def arguments(called: Callable[..., Any]) -> list[str]:
    found = inspect.signature(called).parameters.values()
    return [p.name for p in found if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD) and p.name != "self"]


@pytest.mark.parametrize("called", [*PLUGINS, *PARTS, *QUERIES, *METHODS], ids=lambda called: called.__qualname__)
def test_a_slip_in_a_name_is_met_with_the_name(called: Callable[..., Any]) -> None:
    for name in arguments(called) or ["rate"]:
        slip = name[:-1] + name[-1] * 2
        with pytest.raises(InvalidType) as caught:
            called(**{slip: "what nobody should see"})
        assert caught.value.parameter == slip
        assert not arguments(called) or f"Did you mean {name}" in str(caught.value)
        assert "nobody" not in str(caught.value)
    with pytest.raises(TypeError, match="admissible: arguments of "):
        called(zzzz=1)


@pytest.mark.parametrize("called", PLUGINS, ids=lambda called: called.__qualname__)
def test_options_without_a_name_are_met_with_their_names(called: Callable[..., Any]) -> None:
    with pytest.raises(InvalidType, match="without a name") as caught:
        called(Public(1))
    assert all(f"{name}=…" in str(caught.value) for name in arguments(called))


def test_what_is_named_rightly_is_passed_on() -> None:
    mechanism = LaplaceSum(scale=Public(3))
    assert evolve(mechanism, scale=Public(4)).scale.value == 4
    assert copy.copy(mechanism) == pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert str(inspect.signature(LaplaceSum)).startswith("(*, scale: ")


@pytest.mark.parametrize("called", [*PLUGINS, *PARTS, *QUERIES, *METHODS], ids=lambda called: called.__qualname__)
def test_an_argument_that_is_missing_is_named(called: Callable[..., Any]) -> None:
    found = inspect.signature(called).parameters.values()
    needed = [p.name for p in found if p.default is p.empty and p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    owner = [object()] if needed[:1] == ["self"] else []
    needed = [name for name in needed if name != "self"]
    for name in needed:
        others = {other: "what nobody should see" for other in needed if other != name}
        with pytest.raises(InvalidType) as caught:
            called(*owner, **others)
        assert (caught.value.parameter, caught.value.value) == (name, "nothing")
        assert f"({name}=…)" in caught.value.remedy
        assert "nobody" not in str(caught.value)
    if len(needed) > 1:
        with pytest.raises(InvalidType, match="State it: ") as caught:
            called(*owner)
        assert all(f"{name}=…" in caught.value.remedy for name in needed)


def test_functions_that_take_any_name_or_any_number_do() -> None:
    @known_keywords
    def many(*values: int, **named: int) -> int:
        return len(values) + len(named)

    @known_keywords
    def few(value: int, /, *, other: int = 0) -> int:
        return value + other

    assert many(1, 2, three=3) == 3
    assert few(1, other=2) == 3
    with pytest.raises(InvalidType, match="value: got an argument of this name"):
        few(value=1)  # type: ignore[call-arg]
    with pytest.raises(InvalidType, match="2 without a name"):
        few(1, 2, 3)  # type: ignore[call-arg]
    with pytest.raises(InvalidType, match="value: got nothing"):
        few(other=1)  # type: ignore[call-arg]
