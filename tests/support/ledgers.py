"""Rules of every notion with costs to pay from them, for the tests of ledgers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from attrs import frozen

from certdp.accounting.derivation import Theorem
from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.filters import (
    ApproximateFilter,
    Filter,
    GaussianFilter,
    PureFilter,
    RenyiFilter,
    ZeroConcentratedFilter,
)
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.notions import Approximate, GaussianDP, Pure, Renyi, ZeroConcentrated
from certdp.accounting.relations import ADD_REMOVE, RECORD


def cost(bound: Any) -> Guarantee[Any, Any, Any]:
    return Guarantee(bound=bound, relation=ADD_REMOVE, unit=RECORD, derivation=Theorem("test", "cost").conclude())


def number(value: Any) -> Enclosure:
    return Enclosure.of(value)


@frozen
class Case:
    """A rule, and one cost that is paid from it again and again."""

    rule: Callable[[], Filter[Any, Any, Any]]
    cost: Guarantee[Any, Any, Any]

    @property
    def admissible(self) -> int:
        """How many of the costs the rule admits, by the filter itself."""
        account, count = self.rule(), 0
        while account.would_exceed(self.cost) is Truth.FALSE:
            account.spend(self.cost)
            count += 1
        return count


def made(kind: Any, budget: Any, **options: Any) -> Callable[[], Filter[Any, Any, Any]]:
    return lambda: kind(budget, relation=ADD_REMOVE, unit=RECORD, **options)


CASES = {
    "pure": Case(made(PureFilter, Pure(number(1))), cost(Pure(number("1/41")))),
    "zero-concentrated": Case(
        made(ZeroConcentratedFilter, ZeroConcentrated(number("1/2"))), cost(ZeroConcentrated(number("1/77")))
    ),
    "renyi": Case(made(RenyiFilter, Renyi(Fraction(5), number(1))), cost(Renyi(Fraction(5), number("1/43")))),
    "gaussian": Case(made(GaussianFilter, GaussianDP(number(1))), cost(GaussianDP(number("3/20")))),
    "approximate": Case(
        made(ApproximateFilter, Approximate(number(1), number("1e-5"))),
        cost(Approximate(number("1/39"), number("1e-7"))),
    ),
    "approximate, by squares": Case(
        made(ApproximateFilter, Approximate(number("1/4"), number("1e-5")), set_aside="1e-5"),
        cost(Approximate(number("1/130"), number(0))),
    ),
}
