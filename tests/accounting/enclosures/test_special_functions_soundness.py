"""Every special function against Arb: none outside, all tight."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import flint
import pytest

from certdp.accounting.enclosures import Enclosure, _ends, normal
from certdp.accounting.enclosures import error_function as errors
from certdp.accounting.enclosures._monotone import point
from certdp.accounting.enclosures.constants import pi_integers

PRECISIONS = (8, 24, 53, 96, 96, 96, 160, 400)
LOST_BITS = 4

Dyadic = tuple[int, int]


@pytest.fixture(autouse=True)
def _own_oracle_precision() -> Iterator[None]:
    before = flint.ctx.prec
    yield
    flint.ctx.prec = before


def dyadic(draw: random.Random, bits: int, lowest: int, highest: int) -> Dyadic:
    """A number of either sign and of log-uniform size in [2**(lowest−1), 2**highest), of at most `bits` bits."""
    man = draw.getrandbits(draw.randint(1, bits)) | 1
    return draw.choice((man, -man)), draw.randint(lowest, highest) - man.bit_length()


def enclosed(value: Dyadic, bits: int) -> Enclosure:
    return point(_ends.scaled(*value, 0, _ends.DOWN), bits)


def assert_sound(made: Enclosure, oracle: Callable[[], Any], bits: int, lost: int = LOST_BITS) -> None:
    """The oracle's value is inside, or cannot be told from an end at a much higher precision; and `made` is tight."""
    low, high = (flint.arb(_ends.integers(end)) for end in (made._lower, made._upper))
    for oracle_bits in (2 * bits + 100, 4 * bits + 2000):
        flint.ctx.prec = oracle_bits
        value = oracle()
        if low <= value and value <= high:
            break
    else:  # values like 1 − 10**-20000 beside the end 1
        assert value.rel_accuracy_bits() > 3 * bits + 1000, f"oracle too coarse: {value}"
        assert not value < low, f"outside: {made} at {bits} bits"
        assert not value > high, f"outside: {made} at {bits} bits"
    width = made.relative_width
    assert width is not None
    assert width <= Fraction(1, 2 ** (bits - lost)), f"wide: {made} at {bits} bits"


def scaled_to_erfc(value: Dyadic) -> Any:
    return flint.arb(value) / flint.arb(2).sqrt()


FUNCTIONS: dict[str, tuple[Callable[[Enclosure], Enclosure], Callable[[Dyadic], Any], int]] = {
    "erf": (errors.erf, lambda x: flint.arb(x).erf(), 6),
    "erfc": (errors.erfc, lambda x: flint.arb(x).erfc(), 14),
    "log_erfc": (errors.log_erfc, lambda x: log_of_erfc(flint.arb(x)), 14),
    "normal_cdf": (normal.normal_cdf, lambda x: scaled_to_erfc((-x[0], x[1])).erfc() / 2, 14),
    "normal_survival": (normal.normal_survival, lambda x: scaled_to_erfc(x).erfc() / 2, 14),
    "log_normal_cdf": (normal.log_normal_cdf, lambda x: log_of_half_erfc(-scaled_to_erfc(x)), 14),
    "log_normal_survival": (normal.log_normal_survival, lambda x: log_of_half_erfc(scaled_to_erfc(x)), 14),
}


def log_of_erfc(x: Any) -> Any:
    return x.erfc().log() if x > 1 else (-x.erf()).log1p()


def log_of_half_erfc(x: Any) -> Any:
    return (-(-x).erfc() / 2).log1p() if x < -1 else (x.erfc() / 2).log()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_of_a_point_encloses_arb(name: str, stream: int) -> None:
    draw = random.Random(f"{name} against Arb, {stream}")
    function, oracle, largest = FUNCTIONS[name]
    for _ in range(2_000 if stream == 0 else 15_000):
        bits = draw.choice(PRECISIONS)
        lowest, highest = draw.choice(((-1074, largest), (-6, 5), (-6, 5)))
        value = dyadic(draw, bits, lowest, min(highest, largest))
        assert_sound(function(enclosed(value, bits)), lambda: oracle(value), bits)  # noqa: B023


@pytest.mark.parametrize("bits", [1, 63, 64, 65, 200, 3000])
def test_pi_is_enclosed(bits: int) -> None:
    flint.ctx.prec = 2 * bits + 100
    low, high = pi_integers(bits)
    assert flint.arb((low, -bits)) < flint.arb.pi()
    assert flint.arb.pi() < flint.arb((high, -bits))
    assert high - low <= 2
