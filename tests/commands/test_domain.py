"""The public domain of a run, and its dimension: read once, for every command, with and without data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from certdp.accounting.norms import Norm
from certdp.commands.composition import composed
from certdp.commands.domain import dimension_of, domain_of
from certdp.plugins.registry import Registry, Role

Run = Callable[..., Any]
Refusal = Callable[..., dict[str, str]]
Words = tuple[str, ...]


def options(**constants: object) -> Words:
    return tuple(word for name, value in constants.items() for word in ("--option", f"{name}={value}"))


CONSTANTS: dict[str, Words] = {
    "above-threshold": options(threshold=3, threshold_scale=4, scale=8),
    "count": options(scale=1),
    "discrete-gaussian": options(scale=10),
    "discrete-laplace": options(scale=10),
    "dpis-step": options(noise_multiplier=2, size=1000, **{"mechanism.clip": 1, "mechanism.batch": 10}),
    "gaussian-sum": options(scale=2),
    "laplace-sum": options(scale=2),
    "lloyd": options(clusters=3, scale_sum=20, split="derived"),
    "lp-sum": options(scale=2, norm=2),
    "quantile-choice": options(quantile="1/2", scale=2),
    "randomised-response": options(categories=3, epsilon=1),
    "report-noisy-max": options(scale=4),
}
"""What each mechanism on records needs."""

SAMPLERS = {
    "dpis-step": ("dpis", *options(**{"sampler.clip": 1, "sampler.batch": 10, "sampler.norm_sum": 1000})),
}
DELTAS = {"discrete-gaussian": "1e-5", "dpis-step": "1e-5", "gaussian-sum": "1e-5"}
BALL, FAR = options(radius=1), options(dimension=1000)


def run_of(name: str) -> Words:
    """A mechanism and what draws for it, with their constants."""
    return ("--mechanism", name, *CONSTANTS[name], "--sampler", *SAMPLERS.get(name, ("full",)))


def costs(certdp: Run, command: str, name: str, *more: str) -> Any:
    """What a command says of it, at a δ where there is no pure ψ."""
    pure = command == "psi" and name not in DELTAS and name != "randomised-response"
    ran = certdp(command, *run_of(name), *(() if pure else ("--delta", DELTAS.get(name, "0"))), *more, "--json")
    assert ran.code == 0, ran
    return ran.json


def test_every_mechanism_on_records_is_tried() -> None:
    registry = Registry(third_party=False)
    names = {listing.name for listing in registry.listings(Role.MECHANISM)}
    keyed = {name for name in names if hasattr(registry.get(Role.MECHANISM, name), "reporting")}
    assert set(CONSTANTS) == names - keyed


@pytest.mark.parametrize("name", sorted(CONSTANTS))
def test_any_dimension_without_data(certdp: Run, name: str) -> None:
    known, asked = (costs(certdp, command, name, *BALL, *FAR) for command in ("psi", "epsilon"))
    assert known["private"] is None
    for one, other in ((known, asked), (asked, known)):  # both bound the same number
        lower, upper = one["epsilon"][0] or 0, other["epsilon"][1]
        assert lower <= upper


@pytest.mark.parametrize("command", ["psi", "epsilon", "delta", "calibrate"])
@pytest.mark.parametrize("dimension", [10, 1000])
@pytest.mark.parametrize("name", sorted({*CONSTANTS} - {"discrete-gaussian", "lloyd"}))  # which have one of their own
def test_a_dimension_says_nothing_without_a_radius(refusal: Refusal, command: str, name: str, dimension: int) -> None:
    ways = {
        "psi": ("--delta", "1e-5"),
        "delta": ("--epsilon", "1"),
        "calibrate": ("--find", "steps", "--resample", "each", "--epsilon", "1"),
    }
    error = refusal(command, *run_of(name), *options(dimension=dimension), *ways.get(command, ()))
    assert (error["parameter"], error["value"]) == ("dimension", str(dimension))
    assert "radius" in error["remedy"]


def test_a_dimension_of_the_mechanism_alone_needs_no_radius() -> None:
    given = composed("discrete-gaussian", "full", ["scale=10", "dimension=3"], Registry(third_party=False))
    assert (domain_of(given), dimension_of(given)) == (None, 3)


@pytest.mark.parametrize("key", ["dimension", "mechanism.dimension"])
def test_a_dimension_is_that_of_the_data(refusal: Refusal, table: Path, key: str) -> None:
    words = (*run_of("discrete-gaussian"), "--order", "4", *BALL, *options(**{key: 3}))
    error = refusal("psi", *words, "--data", table)
    assert (error["parameter"], error["value"]) == ("dimension", "3")
    assert "4, the number of columns" in error["admissible"]


def test_a_norm_beside_the_domains_takes_the_columns_of_the_data() -> None:
    words = ["scale=1", "mechanism.norm=2", "sampler.norm=1", "rate=0.1", "radius=1"]
    given = composed("lp-sum", "importance", words, Registry(third_party=False))
    domain = domain_of(given, columns=7)
    assert domain is not None
    assert (domain.norm, domain.dimension) == (Norm.L2, 7)


@pytest.mark.parametrize("flag", ["--owner-certificate", "--owner-plot"])
def test_without_records_there_is_nothing_for_their_owner(
    refusal: Refusal, tmp_path: Path, base: Words, flag: str
) -> None:
    error = refusal(*base, *BALL, *FAR, flag, tmp_path / "owners")
    assert error["parameter"] == flag.removeprefix("--")
    assert "--data" in error["remedy"]
    assert not list(tmp_path.glob("owners"))
