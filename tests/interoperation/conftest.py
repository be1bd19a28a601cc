"""dp_accounting's classes: the installed ones, or stand-ins with the same names and fields."""

from __future__ import annotations

import enum
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

FIELDS = {
    "NoOpDpEvent": [],
    "NonPrivateDpEvent": [],
    "UnsupportedDpEvent": [],
    "GaussianDpEvent": ["noise_multiplier"],
    "LaplaceDpEvent": ["noise_multiplier"],
    "DiscreteLaplaceDpEvent": ["noise_parameter", "sensitivity"],
    "RandomizedResponseDpEvent": ["noise_parameter", "num_buckets"],
    "SelfComposedDpEvent": ["event", "count"],
    "ComposedDpEvent": ["events"],
    "PoissonSampledDpEvent": ["sampling_probability", "event"],
    "SampledWithReplacementDpEvent": ["source_dataset_size", "sample_size", "event"],
    "SampledWithoutReplacementDpEvent": ["source_dataset_size", "sample_size", "event"],
    "SingleEpochTreeAggregationDpEvent": ["noise_multiplier", "step_counts"],
    "RepeatAndSelectDpEvent": ["event", "mean", "shape"],
    "EpsilonDeltaDpEvent": ["epsilon", "delta"],
    "ExponentialMechanismDpEvent": ["epsilon"],
    "PermuteAndFlipDpEvent": ["epsilon"],
    "MixtureOfGaussiansDpEvent": ["standard_deviation", "sensitivities", "sampling_probs"],
    "TruncatedSubsampledGaussianDpEvent": [
        "dataset_size",
        "sampling_probability",
        "truncated_batch_size",
        "noise_multiplier",
    ],
}
"""In dp_accounting's head (commit 00a8d6b), by name and order; release 0.6.0 lacks four of them."""


class NeighboringRelation(enum.Enum):
    ADD_OR_REMOVE_ONE = 1
    REPLACE_ONE = 2
    REPLACE_SPECIAL = 3


def stand_in() -> Any:
    kinds = {name: attrs.make_class(name, names, frozen=True) for name, names in FIELDS.items()}
    numbers = {"rho": attrs.field(), "xi": attrs.field(default=0.0)}
    kinds["ZCDpEvent"] = attrs.make_class("ZCDpEvent", numbers, frozen=True)
    lattice = {"sigma": attrs.field(), "sensitivity": attrs.field(default=1.0), "dimension": attrs.field(default=None)}
    kinds["DiscreteGaussianDpEvent"] = attrs.make_class("DiscreteGaussianDpEvent", lattice, frozen=True)
    return SimpleNamespace(dp_event=SimpleNamespace(**kinds), NeighboringRelation=NeighboringRelation)


@pytest.fixture(scope="session", params=["stand-in", "installed"])
def dp_accounting(request: pytest.FixtureRequest) -> Any:
    """The package dp_accounting, or what stands in for it."""
    return stand_in() if request.param == "stand-in" else pytest.importorskip("dp_accounting")
