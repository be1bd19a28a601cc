"""The states of Flower's accountants: `state_dict()` of `flwr.serverapp.RdpAccountant` (Flower 1.42).

A state is a list of rounds, each a noise multiplier, how many clients took part, of how many, and how often. What a
round is follows from the sampling that the state declares, for clients that are added or removed: Poisson samples are
amplified; with no amplification every client counts as in every round, whatever the sizes are. Clients drawn without
replacement are no Poisson sample, and their pair is not covered yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from ..accounting.errors import InvalidType, InvalidValue
from .events import MOST_RELEASES, Composed, Event, Gaussian, PoissonSampled, SelfComposed

_VERSION = 1
_REMEDY = "Write what state_dict() of Flower's RdpAccountant gives"
_RELATION = "add-or-remove-one"
_LARGEST = 2**53
_KEYS = {"schema_version", "backend", "config", "orders", "compositions"}
_CONFIG = {"target_delta", "population_size", "neighboring_relation", "sampling_method", "max_epsilon"}


def _poisson(noise: Gaussian, rate: Fraction) -> Event:
    return PoissonSampled(rate, noise)


def _every_client(noise: Gaussian, _: Fraction) -> Event:
    return noise


_ROUNDS: Mapping[str, Callable[[Gaussian, Fraction], Event]] = {
    "poisson": _poisson,
    "no-amplification": _every_client,
}


def is_flower_state(tree: object) -> bool:
    """Whether JSON has the keys of a state of Flower's."""
    match tree:
        case {"schema_version": _, "config": _, "compositions": _}:
            return True
    return False


def event_of_state(state: Mapping[str, Any]) -> Composed:
    """The rounds that a state of Flower's accountant tells of, about a client that is added or removed.

    Args:
        state: with the keys of `is_flower_state`.

    Raises:
        InvalidValue: for another version, relation or way of sampling, and for numbers out of range. InvalidType: for
            other types.
    """
    if further := state.keys() - _KEYS:
        raise InvalidValue("file", f"{len(further)} keys beside", ", ".join(sorted(_KEYS)), _REMEDY)
    if state["schema_version"] != _VERSION or type(state["schema_version"]) is not int:
        raise InvalidValue("schema_version", _short(state["schema_version"]), str(_VERSION), _REMEDY)
    match state["config"]:
        case {"sampling_method": str(sampling), "neighboring_relation": str(relation), "population_size": population}:
            pass
        case _:
            raise InvalidType("config", type(state["config"]), "a mapping with the sampling and relation", _REMEDY)
    if further := state["config"].keys() - _CONFIG:
        raise InvalidValue("config", f"{len(further)} keys beside", ", ".join(sorted(_CONFIG)), _REMEDY)
    if sampling not in _ROUNDS:
        remedy = "The pair of clients drawn without replacement is missing; account for them with no-amplification"
        raise InvalidValue("config.sampling_method", _short(sampling), " or ".join(_ROUNDS), remedy)
    if relation != _RELATION:
        raise InvalidValue("config.neighboring_relation", _short(relation), _RELATION, _REMEDY)
    rounds = state["compositions"]
    if not isinstance(rounds, list):
        raise InvalidType("compositions", type(rounds), "a list of events with their counts", _REMEDY)
    several = _whole("config.population_size", population, _LARGEST)
    return Composed(_round(f"compositions[{n}]", one, _ROUNDS[sampling], several) for n, one in enumerate(rounds))


def _round(place: str, told: object, sampled: Callable[[Gaussian, Fraction], Event], population: int) -> Event:
    match told:
        case {
            "event": {"noise_multiplier": noise, "sample_size": size, "population_size": of, **other},
            "count": count,
            **more,
        }:
            if further := len(other) + len(more):
                raise InvalidValue(place, f"{further} keys beside", "an event and its count alone", _REMEDY)
            if type(noise) not in (int, float):
                raise InvalidType(f"{place}.noise_multiplier", type(noise), "a number", _REMEDY)
            if _whole(f"{place}.population_size", of, _LARGEST) != population:
                raise InvalidValue(f"{place}.population_size", of, f"{population}, as in config", _REMEDY)
            rate = Fraction(_whole(f"{place}.sample_size", size, population), population)
            return SelfComposed(sampled(Gaussian(noise), rate), _whole(f"{place}.count", count, MOST_RELEASES))
    raise InvalidType(place, type(told), "an event with its count", _REMEDY)


def _whole(place: str, value: object, largest: int) -> int:
    if type(value) is not int or not 1 <= value <= largest:
        raise InvalidValue(place, _short(value), f"a whole number from 1 to {largest}", _REMEDY)
    return value


def _short(value: object) -> str:
    return repr(value) if type(value) in (str, float) and len(repr(value)) < 40 else f"a {type(value).__name__}"
