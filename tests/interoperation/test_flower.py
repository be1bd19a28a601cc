"""States of Flower's accountant: read as the rounds that they tell of, or refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from certdp.accounting.errors import InvalidValue
from certdp.accounting.relations import REPLACE
from certdp.accounting.units import Delta, Epsilon
from certdp.interoperation import (
    Composed,
    Finding,
    Gaussian,
    PoissonSampled,
    SelfComposed,
    Source,
    judged,
    read_peer_file,
)
from certdp.interoperation.proven_claims import proven
from certdp.verification.checker import check

Read = Callable[[dict[str, Any]], Any]


def state_of(sampling: str, **others: Any) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "backend": "rdp",
        "config": {
            "target_delta": 1e-05,
            "population_size": 100,
            "neighboring_relation": "add-or-remove-one",
            "sampling_method": sampling,
            "max_epsilon": None,
        },
        "orders": [2.0, 3.5],
        "compositions": [
            {"event": {"noise_multiplier": 1.5, "sample_size": 5, "population_size": 100}, "count": 20},
            {"event": {"noise_multiplier": 2.0, "sample_size": 10, "population_size": 100}, "count": 1},
        ],
        **others,
    }


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def reader(state: dict[str, Any]) -> Any:
        path = tmp_path / "state.json"
        path.write_text(json.dumps(state), "utf-8")
        return read_peer_file(path)

    return reader


def test_poisson_samples_of_clients_are_amplified(read: Read) -> None:
    found = read(state_of("poisson"))
    first = SelfComposed(PoissonSampled(Fraction(1, 20), Gaussian(Fraction(3, 2))), 20)
    second = SelfComposed(PoissonSampled(Fraction(1, 10), Gaussian(2)), 1)
    assert (found.source, found.event) == (Source.FLOWER, Composed([first, second]))
    assert "fixed size" in str(found.assumptions)


def test_what_a_state_tells_is_certified(read: Read) -> None:
    found = read(state_of("poisson"))
    certificate = proven(found, 50, "1e-5").certificate
    assert certificate is not None
    claim = check(certificate).claim
    assert claim is not None
    assert {one.name for one in found.assumptions} <= {name for name, _ in (*claim.assumptions, *claim.beside)}


def test_without_amplification_every_client_counts_whatever_the_sizes(read: Read) -> None:
    """Of 20 rounds at σ = 3/2 and one at 2 the sum has σ = 1/√(80/9 + 1/4); where one is replaced, half of it."""
    found = read(state_of("no-amplification"))
    one = Gaussian(1 / (20 / 2.25 + 0.25) ** 0.5).run().epsilon(Delta("1e-5")).epsilon
    bounds = found.run().epsilon(Delta("1e-5")).epsilon
    assert bounds.upper == pytest.approx(one.upper, rel=1e-9)
    assert judged(found.run(REPLACE), Epsilon(2 * one.upper), Delta("1e-5")).finding is Finding.REFUTED


def changed(state: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    inner: Any = state
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return state


EVENT = ("compositions", 0, "event")


@pytest.mark.parametrize(
    ("place", "value", "parameter"),
    [
        (("config", "sampling_method"), "without-replacement", "config.sampling_method"),
        (("config", "neighboring_relation"), "replace-one", "config.neighboring_relation"),
        (("config", "population_size"), 0, "config.population_size"),
        (("schema_version",), 2, "schema_version"),
        (("schema_version",), True, "schema_version"),
        (("further",), 1, "file"),
        (("config", "further"), 1, "config"),
        ((*EVENT, "further"), 1, "compositions[0]"),
        ((*EVENT, "noise_multiplier"), -1.0, "noise_multiplier"),
        ((*EVENT, "noise_multiplier"), "1", "compositions[0].noise_multiplier"),
        ((*EVENT, "sample_size"), 101, "compositions[0].sample_size"),
        ((*EVENT, "population_size"), 99, "compositions[0].population_size"),
        (("compositions", 0, "count"), 0, "compositions[0].count"),
        (("compositions", 0), [], "compositions[0]"),
        (("compositions",), {}, "compositions"),
        (("config",), [], "config"),
    ],
)
def test_what_is_not_understood_is_refused(read: Read, place: tuple[Any, ...], value: Any, parameter: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        read(changed(state_of("poisson"), place, value))
    assert refused.value.parameter == parameter
