"""Laws of samplers of keys: with what probability a key of each frequency is kept, in exact units."""

from __future__ import annotations

from itertools import pairwise
from math import floor
from typing import TYPE_CHECKING, final

from attrs import frozen

from ...accounting.errors import CertdpError, InvalidType
from ...accounting.keyed.reporting import Corner, DyadicBudget, Inclusion
from ...accounting.units import Delta, Epsilon
from ..contract import Case, Finding
from .constants import Setup
from .divergences import formatted
from .law import Law, broken, kept
from .plugin_laws import of_setups

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_PRECISION = 160
_BITS = (16, 60, 256)
_WALKED, _FOLLOWED = 40, 6
_BUDGETS = (("1", "0.01"), ("1/10", "1e-6"), ("3", "1e-4"))


@final
@frozen(eq=False)
class KeySamplerSubject:
    """A sampler of keys.

    Attributes:
        setups: public constants to try it with.
    """

    setups: tuple[Setup, ...]


def inclusion_of(setup: Setup) -> Inclusion:
    """What a sampler of keys states.

    Raises:
        InvalidType: where that are no probabilities.
    """
    inclusion = setup.build().inclusion
    if not isinstance(inclusion, Inclusion):
        raise InvalidType("inclusion", inclusion, "an Inclusion, such as ListedRates")
    return inclusion


def _frequencies() -> SearchStrategy[int]:
    from hypothesis import strategies

    return strategies.integers(1, 60) | strategies.integers(0, 40).map(lambda power: 1 << power)


def _cases(subject: KeySamplerSubject) -> SearchStrategy[Case]:
    from hypothesis import strategies

    return strategies.fixed_dictionaries(
        {
            "constants": strategies.sampled_from(subject.setups),
            "frequency": _frequencies(),
            "bits": strategies.sampled_from(_BITS),
        }
    )


def _within(inclusion: Inclusion, frequency: int) -> int:
    """The frequency, or the last that has a rate."""
    return frequency if inclusion.last is None else min(frequency, inclusion.last)


def _rises(_: KeySamplerSubject, case: Case) -> Finding:
    """q_i lies in [0, 1] and does not fall as i rises."""
    inclusion = inclusion_of(case["constants"])
    first = _within(inclusion, case["frequency"])
    rates = [inclusion.rate(i, precision=_PRECISION) for i in (first, _within(inclusion, first + 1))]
    for rate in rates:
        if rate.lower < 0 or rate.upper > 1:
            return broken(f"q_{first} = {formatted(rate)}", "a probability")
    low, high = rates
    return (
        kept()
        if low.lower <= high.upper
        else broken(f"q_{first + 1} = {formatted(high)}", f"at least {formatted(low)}")
    )


def _counts_units(_: KeySamplerSubject, case: Case) -> Finding:
    """The units drawn are the stated rate, rounded down; fewer bits are more bits cut off; none exceed the most."""
    inclusion, bits = inclusion_of(case["constants"]), case["bits"]
    frequency = _within(inclusion, case["frequency"])
    rate, units = inclusion.rate(frequency, precision=bits + _PRECISION), inclusion.units(frequency, bits)
    least, most = (floor(end * (1 << bits)) for end in (rate.lower, rate.upper))
    if not least <= units <= most:
        return broken(f"{units} units of 2^-{bits} at frequency {frequency}", f"{least}, as q = {formatted(rate)} says")
    finer = inclusion.units(frequency, bits + 12) >> 12
    if finer != units:
        return broken(f"{units} units of 2^-{bits} at frequency {frequency}", f"{finer}, the first of more bits")
    if units > inclusion.most(bits):
        return broken(f"{units} units at frequency {frequency}", f"at most {inclusion.most(bits)}, as it states")
    return kept()


def _settles(_: KeySamplerSubject, case: Case) -> Finding:
    """The first frequency with the most units has them, and the one before has not."""
    inclusion, bits = inclusion_of(case["constants"]), case["bits"]
    settled = inclusion.settled(bits)
    if settled is None:
        return kept("none has the most")
    units, most = inclusion.units(settled, bits), inclusion.most(bits)
    if units != most:
        return broken(f"{units} units of 2^-{bits} at frequency {settled}", f"{most}, the most")
    if settled > 1 and inclusion.units(settled - 1, bits) == most:
        return broken(f"frequency {settled - 1} has the most units", f"the first is {settled}, as it states")
    return kept()


def _bounds_stretches(_: KeySamplerSubject, case: Case) -> Finding:
    """Units of neighbouring frequencies lie on or to the lower right of the line through the corners."""
    inclusion, bits = inclusion_of(case["constants"]), case["bits"]
    first = _within(inclusion, case["frequency"])
    last = _within(inclusion, first + _FOLLOWED)
    corners = inclusion.corners(bits, first, last) if last > first else ()
    if not corners:
        return kept("no corners are stated")
    for frequency in range(first, last):
        point = Corner(inclusion.units(frequency, bits), inclusion.units(frequency + 1, bits))
        if not _below(point, corners):
            return broken(f"{tuple(point)} at frequency {frequency}", f"below the line through {corners}")
    return kept()


def _below(point: Corner, corners: tuple[Corner, ...]) -> bool:
    if point.before <= corners[0].before:
        return point.after <= corners[0].after
    for left, right in pairwise(corners):
        if point.before <= right.before:
            width = right.before - left.before
            line = left.after * (right.before - point.before) + right.after * (point.before - left.before)
            return point.after * width <= line
    return point.after <= corners[-1].after


def _budget_cases(subject: KeySamplerSubject) -> SearchStrategy[Case]:
    from hypothesis import strategies

    return strategies.fixed_dictionaries(
        {
            "constants": strategies.sampled_from(subject.setups),
            "budget": strategies.sampled_from(_BUDGETS),
        }
    )


def _attaches(_: KeySamplerSubject, case: Case) -> Finding:
    """Where keys are said to be reported as often as they are kept, the best reporting does so."""
    inclusion = inclusion_of(case["constants"])
    epsilon, delta = case["budget"]
    budget = DyadicBudget(epsilon=Epsilon(epsilon), delta=Delta(delta))
    reported = 0
    for frequency in range(1, _within(inclusion, _WALKED)):
        units = inclusion.units(frequency, budget.bits)
        reported = budget.reported(reported, units)
        if reported != units:
            continue
        end = inclusion.attached(budget, frequency)
        last = _within(inclusion, frequency + _FOLLOWED) if end is None else min(end, frequency + _FOLLOWED)
        for before in range(frequency, last):
            lower, upper = inclusion.units(before, budget.bits), inclusion.units(before + 1, budget.bits)
            if budget.reported(lower, upper) != upper:
                return broken(f"attached from {frequency} to {end}", f"not beyond {before}: {lower}, {upper} units")
        return kept()
    return kept("never as often as kept")


def _stands_extremes(_: KeySamplerSubject, case: Case) -> Finding:
    """Keys of any frequency have units, or the frequency is refused with the reason."""
    inclusion = inclusion_of(case["constants"])
    try:
        units = inclusion.units(1 << 63, 60)
    except CertdpError:
        return kept("a refusal with a reason")
    return kept() if 0 <= units <= 1 << 60 else broken(f"{units} units of 2^-60", "a probability")


LAWS: tuple[Law[KeySamplerSubject], ...] = (
    Law(
        name="rates",
        says="q_i lies in [0, 1] and does not fall as i rises",
        cases=_cases,
        examine=_rises,
    ),
    Law(
        name="units",
        says="the units drawn are the stated rate, rounded down",
        cases=_cases,
        examine=_counts_units,
    ),
    Law(
        name="settled",
        says="the first frequency that is said to have the most units is the first",
        cases=_cases,
        examine=_settles,
    ),
    Law(
        name="corners",
        says="the corners that are stated bound the units of neighbouring frequencies",
        cases=_cases,
        examine=_bounds_stretches,
    ),
    Law(
        name="attached",
        says="keys that are said to be reported as often as kept may be",
        cases=_budget_cases,
        examine=_attaches,
    ),
    Law(
        name="extreme-frequencies",
        says="a frequency of 2^63 has a probability, or is refused with the reason",
        cases=of_setups,
        examine=_stands_extremes,
    ),
)
