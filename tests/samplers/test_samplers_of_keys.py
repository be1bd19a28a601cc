"""Samplers of keys: their rates, and lists of numbers that read back as they were."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import pytest
from flint import arb, ctx

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.keyed.reporting import DRAWN_BITS
from certdp.accounting.provenance import Public
from certdp.plugins.contract import build, stated
from certdp.samplers.every_key import EveryKey
from certdp.samplers.listed_rates import ListedRates
from certdp.samplers.pps import Pps
from certdp.samplers.ppswor import Ppswor
from tests.support.arb_numbers import arb_of

SIZES = "0,1/3,0.5,0.5,7"


def drawn(rate: Fraction) -> int:
    return floor(rate * (1 << DRAWN_BITS))


def test_every_key() -> None:
    assert EveryKey().inclusion.drawn(1) == 2**DRAWN_BITS


@pytest.mark.parametrize(
    ("place", "size"),
    [(1, Fraction(0)), (2, Fraction(1, 3)), (3, Fraction(1, 2)), (4, Fraction(1, 2)), (5, Fraction(7))],
)
def test_sizes_take_the_place_of_a_power(place: int, size: Fraction) -> None:
    pps = Pps(threshold=Public("0.9"), sizes=Public(SIZES)).inclusion
    assert pps.drawn(place) == drawn(min(Fraction(1), Fraction(9, 10) * size))
    ppswor = Ppswor(threshold=Public("0.9"), sizes=Public(SIZES)).inclusion
    ctx.prec = 400
    exponent = Fraction(9, 10) * size
    exact = 1 - (-arb_of(exponent)).exp()
    known = (exact * arb(2) ** DRAWN_BITS).floor().unique_fmpz()
    assert known is not None
    assert ppswor.drawn(place) == int(known)


@pytest.mark.parametrize("kind", [Ppswor, Pps])
@pytest.mark.parametrize(
    ("options", "named"),
    [({"sizes": "1,3,2,1"}, "f(3)"), ({"sizes": "-1,2"}, "f(1)"), ({"sizes": "1,2", "power": "2"}, "power")],
)
def test_sizes_that_are_none(kind: type[Ppswor] | type[Pps], options: dict[str, str], named: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        build(kind, "sampler", {"threshold": "0.5", **options})
    assert named in str(refused.value)


def test_the_first_rate_that_falls_is_named() -> None:
    with pytest.raises(InvalidValue, match="q_3 at least q_2"):
        ListedRates(rates=Public("0.1,0.5,0.4,0.3"))
    with pytest.raises(InvalidValue):
        ListedRates(rates=Public("0.1,1.5"))
    with pytest.raises(InvalidType):
        ListedRates(rates=Public(3))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "sampler",
    [
        ListedRates(rates=Public([Fraction(1, 3), Fraction(2, 3)])),
        Pps(threshold=Public("1/7"), sizes=Public([0.1, 0.2])),
        Ppswor(threshold=Public("0.3"), power=Public("1/2")),
    ],
)
def test_options_read_back_exactly(sampler: ListedRates | Pps | Ppswor) -> None:
    again = build(type(sampler), "sampler", stated(sampler))
    assert again == sampler
    assert again.inclusion == sampler.inclusion
