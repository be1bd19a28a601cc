"""Laws of single pairs against Arb, by formulas and sums other than the library's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from fractions import Fraction
from math import comb, isqrt
from typing import Any

import flint
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.pairs import (
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    RandomisedResponsePair,
    RepeatedResponse,
    SampledGaussian,
)
from certdp.accounting.relations import Direction
from tests.support.arb_numbers import arb_of
from tests.support.cases import examples

SETTINGS = examples(25)
Ends = Callable[[Any], tuple[Fraction, Fraction]]
SHIFTS = st.fractions(Fraction(1, 100), 30, max_denominator=100) | st.integers(1, 300).map(lambda n: Fraction(1, 2**n))
LEVELS = st.fractions(0, 40, max_denominator=32)
ORDERS = st.fractions(Fraction(17, 16), 60, max_denominator=16)


@pytest.fixture(autouse=True, scope="module")
def _precision(bits: Callable[[int], AbstractContextManager[None]]) -> Iterator[None]:
    with bits(3000):
        yield


def check(found: Enclosure, truth: flint.arb, ends: Ends, *, relative: Fraction = Fraction(1, 2**80)) -> None:
    """The truth is inside, and the enclosure narrow, relatively."""
    low, high = ends(truth)
    assert found.lower <= high
    assert low <= found.upper
    assert found.width <= relative * found.upper


def survival(x: flint.arb) -> flint.arb:
    return (x / flint.arb(2).sqrt()).erfc() / 2


@SETTINGS
@given(shift=SHIFTS, level=LEVELS)
@example(shift=Fraction(1), level=Fraction(37))
def test_gaussian_delta(shift: Fraction, level: Fraction, ends: Ends) -> None:
    s, e = arb_of(shift), arb_of(level)
    truth = survival(e / s - s / 2) - e.exp() * survival(e / s + s / 2)
    found = GaussianPair(Enclosure.of(shift, precision=128)).delta(Enclosure.of(level, precision=128), Direction.ADD)
    if found.upper > Fraction(1, 2**30000):
        check(found, truth, ends)


def test_gaussian_delta_in_the_far_tail(ends: Ends) -> None:
    """δ near 10^-300 keeps its digits."""
    e = arb_of(36)
    found = GaussianPair(Enclosure.of(1)).delta(Enclosure.of(36), Direction.REMOVE)
    assert found.upper < Fraction(1, 10**270)
    half = arb_of(Fraction(1, 2))
    check(found, survival(e - half) - e.exp() * survival(e + half), ends)


@pytest.mark.parametrize("order", [Fraction(5, 4), Fraction(3)])
@pytest.mark.parametrize("shift", [Fraction(1, 10), Fraction(7, 3)])
def test_renyi_of_two_normal_laws(
    shift: Fraction, order: Fraction, ends: Ends, bits: Callable[[int], AbstractContextManager[None]]
) -> None:
    """By its integral; the zero-concentrated cost is what an order costs, whichever it is."""
    with bits(200):
        s, a = arb_of(shift), arb_of(order)
        moment = flint.acb.integral(
            lambda x, _: (-(a * (x - s) ** 2 + (1 - a) * x**2) / 2).exp(), -30, 30 + a * s, rel_tol=flint.arb(2) ** -150
        )
        truth = (moment.real / (2 * flint.arb.pi()).sqrt()).log() / (a - 1)
        pair = GaussianPair(Enclosure.of(shift, precision=128))
        check(pair.renyi(order, Direction.REMOVE), truth, ends)
        check(pair.zero_concentrated, truth / a, ends)


@SETTINGS
@given(shift=SHIFTS, order=ORDERS)
def test_renyi_of_laplace_and_response(shift: Fraction, order: Fraction, ends: Ends) -> None:
    s, a, own = arb_of(shift), arb_of(order), Enclosure.of(shift, precision=128)
    towards, away = ((a - 1) * s).exp(), (-a * s).exp()
    laplace = ((a * towards + (a - 1) * away) / (2 * a - 1)).log() / (a - 1)
    check(LaplacePair(own).renyi(order, Direction.ADD), laplace, ends)
    likely = s.exp() / (1 + s.exp())
    response = (likely * towards + (1 - likely) * (-(a - 1) * s).exp()).log() / (a - 1)
    check(RandomisedResponsePair(own).renyi(order, Direction.ADD), response, ends)


@pytest.mark.parametrize(("shift", "order"), [(Fraction(10**13), 10**6 + 1), (Fraction(1, 2), 2**64)])
def test_moments_beyond_any_exponent(shift: Fraction, order: int, ends: Ends) -> None:
    """e^{(α−1)s} cannot be written here; the divergence is next to s."""
    s, a, own = arb_of(shift), arb_of(order), Enclosure.of(shift)
    towards, apart = a / (2 * a - 1), (-(2 * a - 1) * s).exp()
    laplace = s + (towards + (1 - towards) * apart).log() / (a - 1)
    check(LaplacePair(own).renyi(Fraction(order), Direction.ADD), laplace, ends)
    likely, apart = 1 / (1 + (-s).exp()), (-2 * (a - 1) * s).exp()
    response = s + (likely + (1 - likely) * apart).log() / (a - 1)
    check(RandomisedResponsePair(own).renyi(Fraction(order), Direction.ADD), response, ends)


@pytest.mark.parametrize("shift", [Fraction(1, 10), Fraction(7, 3)])
def test_zero_concentrated_costs_are_mean_losses(
    shift: Fraction, ends: Ends, bits: Callable[[int], AbstractContextManager[None]]
) -> None:
    with bits(200):
        s, own = arb_of(shift), Enclosure.of(shift, precision=128)
        between = flint.acb.integral(lambda x, _: (x - s).exp() * (2 * x - s) / 2, 0, s).real
        check(LaplacePair(own).zero_concentrated, between + s / 2 - s * (-s).exp() / 2, ends)
        truth, lie = 1 / (1 + (-s).exp()), 1 / (1 + s.exp())
        mean = truth * (truth / lie).log() + lie * (lie / truth).log()
        check(RandomisedResponsePair(own).zero_concentrated, mean, ends)


@pytest.mark.parametrize("shift", [Fraction(1, 10), Fraction(7, 3)])
def test_the_gaussian_cost_of_a_pure_loss_meets_the_response(
    shift: Fraction, bits: Callable[[int], AbstractContextManager[None]]
) -> None:
    """A midpoint test between N(0, 1) and N(μ, 1) is as often right as a response is true."""
    with bits(200):
        truth = 1 / (1 + (-arb_of(shift)).exp())
        for pair in (LaplacePair, RandomisedResponsePair):
            mu = pair(Enclosure.of(shift, precision=128)).gaussian
            assert survival(-arb_of(mu.lower) / 2) <= truth <= survival(-arb_of(mu.upper) / 2)
            assert mu.width <= Fraction(1, 2**80) * mu.upper


@pytest.mark.parametrize("pair", [LaplacePair, RandomisedResponsePair])
def test_at_its_pure_loss_and_beyond_a_pair_has_no_delta(pair: type[LaplacePair | RandomisedResponsePair]) -> None:
    for level in ("0.5", "0.75", 40):
        assert pair(Enclosure.of("0.5")).delta(Enclosure.of(level), Direction.ADD) == Enclosure.of(0)


@SETTINGS
@given(shift=SHIFTS, order=ORDERS)
def test_zero_concentrated_costs_bound_every_order(shift: Fraction, order: Fraction) -> None:
    """And they are reached: τ(α)/α comes close to them as α comes close to 1."""
    own = Enclosure.of(shift, precision=128)
    for pair in (LaplacePair(own), RandomisedResponsePair(own), DiscreteLaplacePair(own, Enclosure.of(4))):
        assert pair.renyi(order, Direction.ADD).lower <= pair.zero_concentrated.upper * order
        near = 1 + Fraction(1, 2**40)
        assert pair.renyi(near, Direction.ADD).upper >= pair.zero_concentrated.lower * (1 - Fraction(1, 2**20))


@SETTINGS
@given(shift=st.fractions(Fraction(1, 64), 3, max_denominator=64))
def test_the_gaussian_cost_of_a_pure_loss_bounds_its_delta(shift: Fraction) -> None:
    own = Enclosure.of(shift)
    for pair in (LaplacePair(own), RandomisedResponsePair(own), DiscreteLaplacePair(own, Enclosure.of(1))):
        mu = pair.gaussian
        assert mu is not None
        for level in (Fraction(0), shift / 3, shift):
            at = Enclosure.of(level)
            assert pair.delta(at, Direction.ADD).lower <= GaussianPair(mu).delta(at, Direction.ADD).upper


def responses(own: Fraction, level: Fraction, times: int) -> flint.arb:
    """Every term of the sum, in Arb."""
    growth, factor = arb_of(own).exp(), arb_of(level).exp()
    chance, ratio = 1 / (1 + growth) ** times, (-arb_of(own) * times).exp()
    total = flint.arb(0)
    for k in range(times + 1):
        if ratio > factor:
            total += chance * (1 - factor / ratio)
        chance, ratio = chance * growth * (times - k) / (k + 1), ratio * growth * growth
    return total


@SETTINGS
@given(
    own=st.fractions(Fraction(1, 50), 4, max_denominator=50),
    share=st.fractions(0, 1, max_denominator=30).filter(lambda share: share < 1),
    times=st.integers(2, 60),
)
def test_repeated_response(own: Fraction, share: Fraction, times: int, ends: Ends) -> None:
    level = share * own * times
    found = RepeatedResponse(Enclosure.of(own, precision=256), times).delta(
        Enclosure.of(level, precision=256), Direction.REMOVE
    )
    low, high = ends(responses(own, level, times))
    assert found.lower <= high
    assert low <= found.upper
    assert found.width <= Fraction(1, 2**150) * found.upper + Fraction(1, 2**240)


@pytest.mark.parametrize(
    ("own", "level", "times"),
    [
        (Fraction(3, 4), Fraction(1, 8), 1),
        (Fraction(1, 2), Fraction(1), 7),
        (Fraction(1, 2), Fraction(3), 7),  # all must be true
        (Fraction(4), Fraction(100), 60),
        (Fraction(1, 2), Fraction(199, 4), 100),  # all must be true
        (Fraction(1, 64), Fraction(2), 10_000),
        (Fraction(1, 64), Fraction(257, 128), 10_000),
    ],
)
def test_few_and_many_responses(
    own: Fraction, level: Fraction, times: int, bits: Callable[[int], AbstractContextManager[None]], ends: Ends
) -> None:
    with bits(400):
        truth = responses(own, level, times)
    check(RepeatedResponse(Enclosure.of(own), times).delta(Enclosure.of(level), Direction.ADD), truth, ends)


def test_responses_with_next_to_no_loss_keep_their_digits(
    bits: Callable[[int], AbstractContextManager[None]], ends: Ends
) -> None:
    own = Fraction(1, 2**2500)
    with bits(6000):
        truth = responses(own, Fraction(0), 20)
        check(RepeatedResponse(Enclosure.of(own), 20).delta(Enclosure.of(0), Direction.ADD), truth, ends)


def test_a_hair_below_the_pure_loss_of_many_responses(ends: Ends) -> None:
    """So near that the number of truths that ε' asks for is T to the precision at hand, and yet below it."""
    times, hair = 2**16 + 1, Fraction(1, 2**92)
    own = 12 + hair
    found = RepeatedResponse(Enclosure.of(own), times).delta(Enclosure.of(own * times - hair), Direction.ADD)
    check(found, -(-arb_of(hair)).expm1() / (1 + (-arb_of(own)).exp()) ** times, ends)


def test_no_rounding_takes_delta_above_one() -> None:
    found = RepeatedResponse(Enclosure.of(50), 5).delta(Enclosure.of(0), Direction.ADD)
    assert 1 - Fraction(1, 2**90) < found.lower < found.upper == 1


@pytest.mark.parametrize("times", [1, 3])
def test_other_losses_of_independent_responses(
    times: int, ends: Ends, bits: Callable[[int], AbstractContextManager[None]]
) -> None:
    """From the law of the number of truths."""
    own, order = Fraction(1, 10), Fraction(5, 2)
    with bits(300):
        s, above = arb_of(own), arb_of(order - 1)
        truth, lie = 1 / (1 + (-s).exp()), 1 / (1 + s.exp())
        losses = [((2 * k - times) * s, comb(times, k) * truth**k * lie ** (times - k)) for k in range(times + 1)]
        pair = RepeatedResponse(Enclosure.of(own), times)
        check(pair.pure(Direction.ADD), losses[-1][0], ends)
        check(pair.zero_concentrated, sum((loss * chance for loss, chance in losses), flint.arb(0)), ends)
        moment = sum(((above * loss).exp() * chance for loss, chance in losses), flint.arb(0))
        check(pair.renyi(order, Direction.ADD), moment.log() / above, ends)


@pytest.mark.slow
def test_the_sum_serves_a_hundred_thousand_responses(
    bits: Callable[[int], AbstractContextManager[None]], ends: Ends
) -> None:
    own, level, times = Fraction(1, 256), Fraction(3, 2), 100_000
    pair = RepeatedResponse(Enclosure.of(own), times)
    with bits(200):
        check(pair.delta(Enclosure.of(level), Direction.ADD), responses(own, level, times), ends)
        found = pair.smallest_epsilon(Enclosure.of("1e-3"), Direction.ADD)
        assert found is not None
        assert responses(own, found.upper, times) <= arb_of(Fraction(1, 1000)) <= responses(own, found.lower, times)
        assert found.width < Fraction(1, 10**12)


def test_more_responses_are_composed_on_a_lattice(
    bits: Callable[[int], AbstractContextManager[None]], ends: Ends
) -> None:
    own, level, times = Fraction(1, 256), Fraction(3, 2), 100_001
    with bits(200):
        truth = responses(own, level, times)
    found = RepeatedResponse(Enclosure.of(own), times).delta(Enclosure.of(level), Direction.ADD)
    check(found, truth, ends, relative=Fraction(1, 10**6))


@pytest.mark.parametrize("times", [7, 100])
def test_responses_at_and_beyond_their_pure_loss_have_no_delta(times: int) -> None:
    pair, pure = RepeatedResponse(Enclosure.of("0.5"), times), Enclosure.of(Fraction(times, 2))
    assert pair.delta(pure, Direction.ADD) == pair.delta(pure + 1, Direction.ADD) == Enclosure.of(0)
    assert pair.delta(pure - Fraction(1, 2), Direction.ADD).lower > 0


@SETTINGS
@given(
    shift=st.fractions(Fraction(1, 20), 4, max_denominator=20),
    rate=st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100),
    level=st.fractions(0, 3, max_denominator=16),
)
def test_sampled_gaussian_delta_by_its_threshold(shift: Fraction, rate: Fraction, level: Fraction, ends: Ends) -> None:
    """P(x > t) − e^ε·Q(x > t) where the density ratio crosses e^ε; the library amplifies the unsampled δ instead."""
    s, q, e = arb_of(shift), arb_of(rate), arb_of(level)
    pair = SampledGaussian(Enclosure.of(shift, precision=128), Enclosure.of(rate, precision=128))
    at = Enclosure.of(level, precision=128)
    crossing = (((e.exp() - 1 + q) / q).log() + s * s / 2) / s
    with_it = (1 - q) * survival(crossing) + q * survival(crossing - s)
    check(pair.delta(at, Direction.REMOVE), with_it - e.exp() * survival(crossing), ends)
    kept = ((-e).exp() - 1 + q) / q
    if kept < 0:
        assert pair.delta(at, Direction.ADD).upper == 0
        return
    crossing = (kept.log() + s * s / 2) / s
    with_it = (1 - q) * survival(-crossing) + q * survival(s - crossing)
    check(pair.delta(at, Direction.ADD), survival(-crossing) - e.exp() * with_it, ends)


@SETTINGS
@given(
    unit=st.fractions(Fraction(1, 30), 5, max_denominator=30),
    steps=st.integers(1, 40),
    order=ORDERS,
    share=st.fractions(0, 1, max_denominator=40),
)
def test_discrete_laplace(unit: Fraction, steps: int, order: Fraction, share: Fraction, ends: Ends) -> None:
    """Against the sums over its outputs, the two tails lumped."""
    stay, a, level = (-arb_of(unit)).exp(), arb_of(order), share * unit * steps
    inner = (1 - stay) / (1 + stay)
    present = [stay**steps / (1 + stay), *(inner * stay ** (steps - x) for x in range(1, steps)), 1 / (1 + stay)]
    absent = present[::-1]
    pair = DiscreteLaplacePair(Enclosure.of(unit, precision=160), Enclosure.of(steps))
    moment = sum(((a * p.log() + (1 - a) * q.log()).exp() for p, q in zip(present, absent, strict=True)), flint.arb(0))
    check(pair.renyi(order, Direction.ADD), moment.log() / (a - 1), ends)
    factor = arb_of(level).exp()
    delta = sum(
        (max(p - factor * q, flint.arb(0), key=float) for p, q in zip(present, absent, strict=True)), flint.arb(0)
    )
    found = pair.delta(Enclosure.of(level, precision=160), Direction.ADD)
    assert found.lower <= ends(delta)[1] + Fraction(1, 2**150)
    assert ends(delta)[0] - Fraction(1, 2**150) <= found.upper
    assert found.width <= Fraction(1, 2**140)


def test_one_step_of_discrete_laplace_is_randomised_response() -> None:
    unit, level = Enclosure.of("0.75"), Enclosure.of("0.25")
    lattice, response = DiscreteLaplacePair(unit, Enclosure.of(1)), RandomisedResponsePair(unit)
    for direction in Direction:
        for found, known in (
            (lattice.delta(level, direction), response.delta(level, direction)),
            (lattice.renyi(Fraction(7, 2), direction), response.renyi(Fraction(7, 2), direction)),
            (lattice.zero_concentrated, response.zero_concentrated),
        ):
            assert found.intersection(known).width <= Fraction(1, 2**80)


def test_the_whole_part_of_a_distance_counts() -> None:
    unit, level = Enclosure.of("0.5"), Enclosure.of("0.1")
    for made in (
        lambda steps: DiscreteLaplacePair(unit, steps),
        lambda steps: DiscreteGaussianPair(Fraction(3), steps),
    ):
        whole, broken, spread = made(Enclosure.of(3)), made(Enclosure.of("3.99")), made(Enclosure.between("2.5", 3))
        assert whole.delta(level, Direction.ADD) == broken.delta(level, Direction.ADD)
        assert whole.zero_concentrated == broken.zero_concentrated
        assert spread.delta(level, Direction.ADD) == made(Enclosure.of(2)).delta(level, Direction.ADD).hull(
            whole.delta(level, Direction.ADD)
        )
        with pytest.raises(InvalidValue, match=r"steps: got .*2\*\*64"):
            made(Enclosure.of(2**65))


def lattice(variance: Fraction, centre: Fraction | int, reach: int) -> list[flint.arb]:
    return [(-((arb_of(x) - arb_of(centre)) ** 2) / (2 * arb_of(variance))).exp() for x in range(-reach, reach + 1)]


@examples(20)
@given(
    variance=st.fractions(Fraction(1, 20), 60, max_denominator=20),
    steps=st.integers(1, 12),
    level=st.fractions(0, 6, max_denominator=8),
    order=st.fractions(Fraction(9, 8), 8, max_denominator=8),
)
def test_discrete_gaussian(
    variance: Fraction,
    steps: int,
    level: Fraction,
    order: Fraction,
    ends: Ends,
    bits: Callable[[int], AbstractContextManager[None]],
) -> None:
    with bits(400):
        reach = steps * 9 + isqrt(int(600 * variance)) + 3
        present, absent = lattice(variance, steps, reach), lattice(variance, 0, reach)
        total, factor = sum(absent, flint.arb(0)), arb_of(level).exp()
        delta = (
            sum((p - factor * q for p, q in zip(present, absent, strict=True) if p > factor * q), flint.arb(0)) / total
        )
        around = sum(lattice(variance, order * steps, reach), flint.arb(0))
        renyi = arb_of(order * steps**2 / (2 * variance)) + (around / total).log() / arb_of(order - 1)
    pair = DiscreteGaussianPair(variance, Enclosure.of(steps))
    low, high = ends(delta)
    room = Fraction(1, 2**300)  # what lies beyond the reach
    found = pair.delta(Enclosure.of(level), Direction.ADD)
    assert found.lower - room <= high
    assert low - room <= found.upper
    assert found.width <= Fraction(1, 2**80) * found.upper
    low, high = ends(renyi)
    found = pair.renyi(order, Direction.ADD)
    assert found.lower - room <= high
    assert low - room <= found.upper
    assert found.width <= Fraction(1, 2**80) * found.upper
    assert found.upper <= pair.zero_concentrated.upper * order * (1 + Fraction(1, 2**80))


def test_a_wide_discrete_gaussian_is_compared_with_its_integral(
    ends: Ends, bits: Callable[[int], AbstractContextManager[None]]
) -> None:
    variance, steps = Fraction(700**2), 650
    pair = DiscreteGaussianPair(variance, Enclosure.of(steps))
    with bits(200):
        present, absent = lattice(variance, steps, 9000), lattice(variance, 0, 9000)
        total = sum(absent, flint.arb(0))
        for level, relative in (
            (Fraction(0), Fraction(1, 200)),
            (Fraction(1), Fraction(1, 100)),
            (Fraction(6), Fraction(1, 4)),
        ):
            factor = arb_of(level).exp()
            above = (p - factor * q for p, q in zip(present, absent, strict=True) if p > factor * q)
            check(
                pair.delta(Enclosure.of(level), Direction.ADD),
                sum(above, flint.arb(0)) / total,
                ends,
                relative=relative,
            )


@pytest.mark.parametrize("variance", [Fraction(0), Fraction(-1), Fraction(1, 2**40), Fraction(2**200)])
def test_variances_out_of_range_are_refused(variance: Fraction) -> None:
    with pytest.raises(InvalidValue, match=r"variance: got .*2\*\*-32"):
        DiscreteGaussianPair(variance, Enclosure.of(1))


def test_a_float_is_no_variance() -> None:
    untyped: Any = 2.0
    with pytest.raises(InvalidType, match=r"variance: got 2.0.*exact"):
        DiscreteGaussianPair(untyped, Enclosure.of(1))
