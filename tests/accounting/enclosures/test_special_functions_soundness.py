"""Every special function against Arb: none outside, all tight."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import flint
import pytest

from certdp.accounting.enclosures import Enclosure, Truth, _bell, _ends, lambert, normal
from certdp.accounting.enclosures import error_function as errors
from certdp.accounting.enclosures._monotone import point
from certdp.accounting.enclosures.binomials import _ratio_sum, binomial_tail
from certdp.accounting.enclosures.constants import pi_integers
from certdp.accounting.enclosures.log_gamma import (
    _LEAST_ERROR_BITS,
    _LOWEST_PLACE,
    _rising_product,
    _stirling_sum,
    gamma_function,
    log_gamma,
)
from certdp.accounting.errors import OutsideDomain

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
    for _ in range(2_000 if stream == 0 else 13_000):
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


def assert_root(made: Enclosure, below: Callable[[Any], Any], bits: int) -> None:
    """`below` is proven at most 0 at the lower end and at least 0 at the upper one, where it is not exactly 0."""
    for end, sign in ((made._lower, 1), (made._upper, -1)):
        for oracle_bits in (4 * bits + 400, 16 * bits + 4000):
            flint.ctx.prec = oracle_bits
            if (value := sign * below(flint.arb(_ends.integers(end)))) <= 0:
                break
        else:
            pytest.fail(f"not proven outside: {made} at {bits} bits, oracle {value}")
    width = made.relative_width
    assert width is not None
    assert width <= Fraction(1, 2 ** (bits - LOST_BITS)), f"wide: {made} at {bits} bits"


@pytest.mark.slow
def test_normal_quantile_encloses_the_root(stream: int) -> None:
    draw = random.Random(f"normal quantile against Arb, {stream}")
    for _ in range(500 if stream == 0 else 5_000):
        bits = draw.choice(PRECISIONS)
        man, exponent = dyadic(draw, bits, *draw.choice(((-1074, -1), (-5000, -1), (-4, -1), (-1, -1))))
        share = enclosed((abs(man), exponent), bits)
        if draw.random() < 0.3:  # close to 1/2
            share = enclosed(
                ((1 << bits - 2) + draw.choice((1, -1)) * draw.getrandbits(draw.randint(1, bits - 3)), 1 - bits), bits
            )
        tail = flint.arb(_ends.integers(share._lower))
        made = normal.normal_upper_quantile(share)
        if made.contains(0):
            assert made.is_point
            assert share.contains(Fraction(1, 2))
            continue
        assert_root(made, lambda x: tail - (x / flint.arb(2).sqrt()).erfc() / 2, bits)  # noqa: B023
        assert normal.normal_quantile(share) == -made


@pytest.mark.slow
@pytest.mark.parametrize("branch", [0, -1])
def test_lambert_encloses_the_root(branch: int, stream: int) -> None:
    draw = random.Random(f"branch {branch} of Lambert's W against Arb, {stream}")
    function = lambert.lambert_wm1 if branch else lambert.lambert_w0
    for _ in range(500 if stream == 0 else 5_000):
        bits = draw.choice(PRECISIONS)
        man, exponent = dyadic(draw, bits, *draw.choice(((-1074, 1024), (-6, 5), (-6, 5))))
        if branch or exponent + man.bit_length() < -1:
            man = -abs(man)
        if man < 0 and exponent + man.bit_length() >= -1:
            man, exponent = -draw.getrandbits(bits) - 1, -bits - 1  # of at most 1/2
        if draw.random() < 0.3:  # close to the branch point
            flint.ctx.prec = 3000
            lowest = int((-(flint.arb(-1).exp()) * 2 ** (bits + 1)).floor().unique_fmpz()) + 1
            man, exponent = min(lowest + draw.getrandbits(draw.randint(1, bits - 1)), -1), -bits - 1
        x = flint.arb((man, exponent))
        if not -flint.arb(-1).exp() < x:
            with pytest.raises(OutsideDomain, match="above"):
                function(enclosed((man, exponent), bits))
            continue
        made = function(enclosed((man, exponent), bits))
        # on the branch above −1, w·e**w increases; below, it decreases
        assert_root(made, lambda w: (w * w.exp() - x) * (-1 if branch else 1), bits)  # noqa: B023
        assert (made.less_equal(-1) if branch else made.greater_equal(-1)) is Truth.TRUE


def test_digamma_changes_sign_where_log_gamma_is_least() -> None:
    place = _LOWEST_PLACE
    flint.ctx.prec = 1000
    low, high = (flint.arb(_ends.integers(end)) for end in (place._lower, place._upper))
    assert low.digamma() < 0
    assert high.digamma() > 0
    assert place.width**2 / 2 < Fraction(1, 2**_LEAST_ERROR_BITS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["log_gamma", "gamma_function"])
def test_gamma_of_a_point_encloses_arb(name: str, stream: int) -> None:
    draw = random.Random(f"{name} against Arb, {stream}")
    function, oracle = (log_gamma, "lgamma") if name == "log_gamma" else (gamma_function, "gamma")
    for _ in range(2_000 if stream == 0 else 13_000):
        bits = draw.choice(PRECISIONS)
        man, exponent = dyadic(draw, bits, *draw.choice(((-1074, 55), (-6, 8), (-6, 8))))
        if draw.random() < 0.2:  # close to a root of the logarithm
            root = draw.choice((1, 2)) << bits - 2
            man, exponent = root + draw.choice((1, -1)) * draw.getrandbits(draw.randint(1, bits - 3)), 2 - bits
        x = abs(man), exponent
        made = function(enclosed(x, bits))
        if made.is_point:
            assert enclosed(x, bits).contains(1) or enclosed(x, bits).contains(2)
            continue
        assert_sound(made, lambda: getattr(flint.arb(x), oracle)(), bits)  # noqa: B023


def test_log_gamma_of_an_interval_reaches_its_least_value(stream: int) -> None:
    draw = random.Random(f"intervals of log gamma, {stream}")
    for _ in range(500):
        bits = draw.choice((53, 96, 160, 400))
        centre = Fraction("1.46163214496836234126265954232572132846819620400644")
        low = centre + Fraction(draw.uniform(-1, 0.2)) ** draw.choice((1, 9, 31))
        high = low + Fraction(draw.uniform(0, 1)) ** draw.choice((1, 9, 31))
        x = Enclosure.between(low, high, precision=bits)
        made = log_gamma(x)
        flint.ctx.prec = 2 * bits + 100
        ends = [flint.arb(_ends.integers(end)) for end in (x._lower, x._upper)]
        if ends[0].digamma() < 0 < ends[1].digamma():
            ends.append(flint.arb("1.4616321449683623412626595423257213284681962040064463512959884085987864"))
        values = [end.lgamma() for end in ends]
        lower, upper = flint.arb(_ends.integers(made._lower)), flint.arb(_ends.integers(made._upper))
        assert not any(value < lower or value > upper for value in values)
        slack = flint.arb(2) ** (8 - bits)
        assert min(float((value - lower) / slack) for value in values) < 1
        assert min(float((upper - value) / slack) for value in values) < 1


def exact_tail(trials: int, least: int, share: Fraction) -> Any:
    """P(X ≥ least), all terms summed exactly."""
    a, whole = share.as_integer_ratio()
    b = whole - a
    top = sum(math.comb(trials, j) * a**j * b ** (trials - j) for j in range(least, trials + 1))
    return flint.arb(top) / flint.arb(whole) ** trials


def test_binomial_tail_encloses_exact_sums(stream: int) -> None:
    draw = random.Random(f"binomial tails against exact sums, {stream}")
    for _ in range(500 if stream == 0 else 3_000):
        bits = draw.choice((8, 24, 53, 96))
        trials = draw.randint(1, draw.choice((3, 20, 100)))
        man, exponent = dyadic(draw, bits, *draw.choice(((-30, 0), (-4, 0), (0, 0))))
        share = enclosed((abs(man), exponent), bits)
        middle = int(trials * share.lower)
        least = min(max(draw.choice((middle, 1, trials)) + draw.randint(-5, 5), 1), trials)
        made = binomial_tail(trials, least, share)
        assert_sound(made, lambda: exact_tail(trials, least, share.lower), bits)  # noqa: B023
        for far in (0, -1):
            assert binomial_tail(trials, far, share) == Enclosure.of(1)
        assert binomial_tail(trials, trials + 1, share) == Enclosure.of(0)


def test_binomial_tail_of_many_trials_encloses_sums_in_arb() -> None:
    draw = random.Random("binomial tails of many trials")
    for trials in (1_000, 30_000, 10**6):
        for share in (Fraction(1, 2), Fraction(1, 1024), Fraction(1023, 1024)):
            middle = int(trials * share)
            for least in (max(middle - draw.randint(0, 50), 1), min(middle + draw.randint(0, 50), trials)):
                flint.ctx.prec = 400
                failure = flint.arb(share.denominator - share.numerator) / share.denominator
                odds = flint.arb(share.numerator) / (share.denominator - share.numerator)
                # terms this far from the mean are below e**−400 of the largest
                highest = min(trials, middle + int(30 * math.sqrt(middle + 1)) + 400)
                n = flint.arb(trials)
                term = (
                    ((n + 1).lgamma() - flint.arb(least + 1).lgamma() - (n - least + 1).lgamma()).exp()
                    * odds**least
                    * failure**trials
                )
                total = flint.arb(0)
                for j in range(least, highest + 1):
                    total += term
                    term = term * ((trials - j) * odds) / (j + 1)
                total += flint.arb(0, 2.0**-300)
                made = binomial_tail(trials, least, Enclosure.of(share))
                low, high = (flint.arb(_ends.integers(end)) for end in (made._lower, made._upper))
                assert low <= total
                assert total <= high
                assert made.relative_width is not None
                assert made.relative_width < Fraction(1, 2**90)


def sum_oracle(x: Any, h: int) -> Any:
    """S = Σ (2·q)**j/(1·3···(2j+1)), through erf."""
    t = x if h else x / flint.arb(2).sqrt()
    return (t * t).exp() * t.erf() * flint.arb.pi().sqrt() / (2 * t)


def ratio_oracle(x: Any, h: int) -> Any:
    """R_0 = v·e**−q over the integral of e**−q from x on."""
    t = x if h else x / flint.arb(2).sqrt()
    return (1 if h else flint.arb(2).sqrt()) / ((t * t).exp() * t.erfc() * flint.arb.pi().sqrt())


def stirling_oracle(x: Any) -> Any:
    """T, what Stirling's series adds to the main part, times x."""
    return x * (x.lgamma() - (x - flint.arb(1) / 2) * x.log() + x - (2 * flint.arb.pi()).log() / 2)


def assert_bracket(bracket: tuple[int, int, int], true: Any, bits: int) -> None:
    low, high, exponent = bracket
    assert true.rel_accuracy_bits() > bits + 60
    assert not flint.arb((low, exponent)) > true
    assert not flint.arb((high, exponent)) < true
    assert (high - low) << bits <= abs(low)


def test_brackets_hold_before_they_are_rounded_outward(stream: int) -> None:
    """Rounding to the precision asked for would hide a remainder that is too small."""
    draw = random.Random(f"brackets of special functions, {stream}")
    for _ in range(300):
        bits = draw.choice(PRECISIONS)
        man, exponent = dyadic(draw, bits, *draw.choice(((-60, 3), (0, 3), (3, 8))))
        value = abs(man), exponent
        flint.ctx.prec = 2 * bits + 2000
        x = flint.arb(value)
        for h in (0, 1):
            if x < 20:
                assert_bracket(_bell._series_sum(*value, bits, h), sum_oracle(x, h), bits)
            if x > 2:
                assert_bracket(_bell._ratio(*value, bits, h), ratio_oracle(x, h), bits)
        count = draw.randint(1, 60)
        product = flint.arb(1)
        for j in range(1, count):
            product *= x + j
        if x < 1000:
            assert_bracket(_rising_product(*value, count, bits + 20), product, bits)
        far = (value[0] + (bits << max(-exponent, 0)), exponent) if exponent <= 0 else value
        if flint.arb(far) > bits:
            work = max(bits, far[0].bit_length())
            assert_bracket(_stirling_sum(enclosed(far, work), work), stirling_oracle(flint.arb(far)), bits - 8)


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_continued_fraction_holds_after_any_number_of_steps(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """Cut short, its ends are far apart and close in on the value from both sides."""
    monkeypatch.setattr(_bell, "_steps", lambda twice_q, work: steps)
    flint.ctx.prec = 1000
    for h in (0, 1):
        for value in ((3, 0), (5, -1), (9, 0), (77, -3)):
            low, high, exponent = _bell._ratio(*value, 96, h)
            true = ratio_oracle(flint.arb(value), h)
            assert flint.arb((low, exponent)) < true
            assert true < flint.arb((high, exponent))


def test_sums_of_binomial_ratios_hold_before_they_are_rounded_outward() -> None:
    draw = random.Random("sums of binomial ratios")
    for _ in range(300):
        trials, a = draw.randint(2, 300), draw.getrandbits(30) + 1
        b = draw.getrandbits(draw.choice((30, 34))) + 1
        least = draw.randint((trials + 1) * a // (a + b) + 1, trials + 1)
        if least > trials:
            continue
        first = math.comb(trials, least) * a**least * b ** (trials - least)
        true = Fraction(sum(math.comb(trials, j) * a**j * b ** (trials - j) for j in range(least, trials + 1)), first)
        low, high, exponent = _ratio_sum(trials, least, a, b, 60)
        assert Fraction(low) <= true * 2**-exponent <= Fraction(high)
        assert (high - low) << 45 <= low
