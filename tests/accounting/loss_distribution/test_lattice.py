"""δ(ε) of compositions on a lattice: against closed forms, quadrature, contours, and the laws of composition."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.fft
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import bdtrc

from certdp.accounting._kernels import fft
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.loss_distribution import lattice
from certdp.accounting.loss_distribution.cells import Cells
from certdp.accounting.loss_distribution.inversion import delta_by_transforms
from certdp.accounting.loss_distribution.lattice import delta_by_lattice, epsilon_by_lattice, loss_masses
from certdp.accounting.pairs import (
    DensityPair,
    DiscreteLaplacePair,
    FinitePair,
    GaussianPair,
    LaplacePair,
    Pair,
    RandomisedResponsePair,
    Sampled,
    SampledGaussian,
)
from certdp.accounting.pairs.smallest_epsilon import smallest_epsilon
from certdp.accounting.relations import Direction
from tests.support.cases import examples
from tests.support.loss_cells import cells_of, gap

UNIT = 2.0**-53
REMOVE, ADD = Direction.REMOVE, Direction.ADD


def number(value: float | str | Fraction) -> Enclosure:
    return Enclosure.of(value)


def law_of(pair: Pair, direction: Direction = REMOVE) -> Callable[[Enclosure], Enclosure]:
    law = pair.delta
    assert law is not None
    return lambda epsilon: law(epsilon, direction)


def holds(found: Enclosure, truth: Enclosure) -> bool:
    """Whether both enclosures may hold the same number: neither end is proven on the wrong side."""
    return found.lower <= truth.upper and truth.lower <= found.upper


@pytest.mark.parametrize("log_length", [1, 2, 5, 11, 14])
def test_the_transform_is_within_its_bound(log_length: int) -> None:
    generator = np.random.default_rng(log_length)
    length = 1 << log_length
    values = generator.exponential(size=length) ** 8 + 1j * generator.normal(size=length)
    real, imaginary = values.real.copy(), values.imag.copy()
    roots = fft.roots_of_unity(log_length)
    fft.forward(real, imaginary, *roots)
    reversed_bits = np.array([int(f"{k:0{log_length}b}"[::-1], 2) for k in range(length)])
    exact = np.asarray(scipy.fft.fft(values.astype(np.clongdouble)))
    bound = fft.STAGE_UNITS * log_length * UNIT * float(np.sum(np.abs(values)))
    assert np.max(np.abs((real + 1j * imaginary)[reversed_bits] - exact)) < bound
    bound = fft.STAGE_UNITS * log_length * UNIT * float(np.sum(np.hypot(real, imaginary)))
    exact = np.conj(np.asarray(scipy.fft.fft(np.conj((real + 1j * imaginary)[reversed_bits].astype(np.clongdouble)))))
    fft.backward(real, imaginary, *roots)
    assert np.max(np.abs(real + 1j * imaginary - exact)) < bound


def test_roots_of_unity_are_within_five_units() -> None:
    log_length = 13
    real, imaginary = fft.roots_of_unity(log_length)
    with mpmath.workprec(120):
        for stage in (0, 1, 5, 12):
            for j in {0, 1, (1 << stage) // 3, (1 << stage) - 1} & set(range(1 << stage)):
                at = (1 << stage) + j
                true = mpmath.expjpi(-mpmath.mpf(j) / (1 << stage))
                assert abs(mpmath.mpc(real[at], imaginary[at]) - true) < 5 * UNIT


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize(
    ("shift", "times"), [("1", 1), ("0.5", 3), ("0.1", 100), ("0.01", 10_000), (Fraction(1, 200), 40_000), ("6", 2)]
)
def test_gaussian_releases_at_any_number(shift: str | Fraction, times: int, direction: Direction) -> None:
    pair = GaussianPair(number(shift))
    law = law_of(pair.repeated(times))
    scale = float(pair.shift.midpoint) * math.sqrt(times)
    for epsilon in (0, Fraction(scale) / 3, Fraction(3 * scale), Fraction(9 * scale)):
        found = delta_by_lattice([(cells_of(pair, direction), times)], Enclosure.of(epsilon))
        assert holds(found, law(Enclosure.of(epsilon)))
        assert gap(found) < 0.05


@pytest.mark.parametrize("delta", ["0.01", "1e-5", "1e-30", "1e-120"])
def test_the_epsilon_of_gaussian_releases(delta: str) -> None:
    found = epsilon_by_lattice([(cells_of(GaussianPair(number("0.1"))), 100)], number(delta))
    truth = smallest_epsilon(law_of(GaussianPair(number(1))), number(delta))
    assert holds(found, truth)
    assert gap(found) < 1e-3


def response_delta(own: float, times: int, epsilon: float) -> float:
    """From binomial tails, to about ten digits."""
    least = math.floor((epsilon / own + times) / 2)
    truth, lie = (float(bdtrc(least, times, 1 / (1 + math.exp(sign * own)))) for sign in (-1, 1))
    return 0.0 if least >= times else truth - math.exp(epsilon) * lie


@pytest.mark.parametrize("times", [1, 2, 10, 1000, 10**6])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0, 3.99])
def test_randomised_response_is_exact_but_for_rounding(times: int, epsilon: float) -> None:
    own = 1 / math.sqrt(times)
    found = delta_by_lattice([(cells_of(RandomisedResponsePair(number(own))), times)], number(epsilon))
    truth = response_delta(own, times, epsilon)
    assert found.lower_float <= truth + 1e-10
    assert truth - 1e-10 <= found.upper_float
    assert found.upper - found.lower <= max(found.upper / 10**6, Fraction(1, 10**15))


def test_discrete_laws_are_exact_but_for_rounding() -> None:
    pair = FinitePair(
        (Fraction(1, 7), Fraction(2, 7), Fraction(4, 7)), (Fraction(4, 7), Fraction(2, 7), Fraction(1, 7))
    )
    for direction in Direction:
        for times in (1, 2, 6):
            for factor in (Fraction(1), Fraction(3, 2), Fraction(9)):
                epsilon = Enclosure.of(factor).log()
                found = delta_by_lattice([(cells_of(pair, direction), times)], epsilon)
                composed = pair.repeated(times)
                assert isinstance(composed, FinitePair)
                assert found.contains(composed.hockey_stick(factor, direction))
                assert found.upper - found.lower < Fraction(1, 10**9)


def test_infinite_losses_are_kept_apart() -> None:
    pair = FinitePair((Fraction(1, 2), Fraction(1, 2), Fraction(0)), (Fraction(1, 4), Fraction(0), Fraction(3, 4)))
    composed = pair.repeated(3)
    assert isinstance(composed, FinitePair)
    found = delta_by_lattice([(cells_of(pair), 3)], number(1))
    assert holds(found, law_of(composed)(number(1)))
    assert gap(found) < 1e-8
    with pytest.raises(InvalidValue, match="infinite losses"):
        epsilon_by_lattice([(cells_of(pair), 3)], number("0.8"))


def laplace_delta(shift: float, times: int, epsilon: mpmath.mpf) -> mpmath.mpf:
    """By the convolution of δ with the law of one loss."""
    s = mpmath.mpf(shift)
    if times == 1:
        if epsilon >= s:
            return mpmath.mpf(0)
        return 1 - mpmath.exp((epsilon - s) / 2) if epsilon >= -s else 1 - mpmath.exp(epsilon)
    kinks = sorted({-s, s, *(x for k in range(-times, times + 1) if abs(x := epsilon - k * s) < s)})

    def less(loss: mpmath.mpf) -> mpmath.mpf:
        return laplace_delta(shift, times - 1, epsilon - loss)

    between = mpmath.quad(lambda loss: mpmath.exp((loss - s) / 2) / 4 * less(loss), kinks, maxdegree=5)
    return less(s) / 2 + mpmath.exp(-s) / 2 * less(-s) + between


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shift", "times", "epsilon"), [(1.0, 1, 0.5), (1.0, 2, 0.7), (1.0, 2, 1.9), (0.5, 2, 0.0), (2.0, 3, 2.5)]
)
def test_laplace_releases_against_quadrature(shift: float, times: int, epsilon: float) -> None:
    with mpmath.workdps(12 if times == 3 else 20):
        truth = laplace_delta(shift, times, mpmath.mpf(epsilon))
    for direction in Direction:
        found = delta_by_lattice([(cells_of(LaplacePair(number(shift)), direction), times)], number(epsilon))
        assert found.lower_float <= float(truth) * (1 + 1e-9)
        assert float(truth) * (1 - 1e-9) <= found.upper_float
        assert gap(found) < 1e-3


@pytest.mark.parametrize(("releases", "delta", "epsilon"), [(1000, "1e-5", 1.8282367), (10_000, "1e-5", 6.1877124)])
def test_the_sampled_gaussian_of_the_literature(releases: int, delta: str, epsilon: float) -> None:
    pair = SampledGaussian(number(1), number("0.01"))
    found = epsilon_by_lattice([(cells_of(pair), releases)], number(delta))
    assert found.lower_float < epsilon < found.upper_float + 5e-8
    assert gap(found) < 1e-3
    finer = epsilon_by_lattice([(cells_of(pair), releases)], number(delta), points=1 << 18)
    assert gap(finer) < 5e-5
    assert holds(finer, found)
    other = epsilon_by_lattice([(cells_of(pair, ADD), releases)], number(delta))
    assert other.upper < found.lower


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize(
    ("rate", "shift", "times", "epsilon"),
    [
        ("0.01", "1", 1000, "1.5"),
        ("0.2", "0.5", 50, "3"),
        ("0.001", "1", 10**4, "0.2"),
        ("0.05", "1.5", 100, "2"),
        ("0.01", "1", 3000, "9"),
    ],
)
def test_contours_agree(rate: str, shift: str, times: int, epsilon: str, direction: Direction) -> None:
    pair = SampledGaussian(number(shift), number(rate))
    truth = delta_by_transforms([(pair.loss_transform(direction), times)], number(epsilon))
    assert truth is not None
    found = delta_by_lattice([(cells_of(pair, direction), times)], number(epsilon))
    assert holds(found, truth)
    assert gap(found) < 0.2


@pytest.mark.slow
@examples(15)
@given(
    st.sampled_from(
        [
            GaussianPair(number("0.3")),
            LaplacePair(number("0.4")),
            Sampled(LaplacePair(number(1)), number("0.2")),
            RandomisedResponsePair(number("0.25")),
            DiscreteLaplacePair(number("0.125"), number(3)),
            SampledGaussian(number(1), number("0.1")),
        ]
    ),
    st.integers(1, 6),
    st.integers(1, 6),
    st.sampled_from(list(Direction)),
    st.floats(0, 3),
)
def test_releases_count_as_often_as_they_are_made(
    pair: Pair, times: int, more: int, direction: Direction, epsilon: float
) -> None:
    cells, level = cells_of(pair, direction), number(epsilon)
    together = delta_by_lattice([(cells, times + more)], level)
    assert delta_by_lattice([(cells, times), (cells, more)], level) == together
    fewer = delta_by_lattice([(cells, times)], level)
    assert fewer.lower <= together.upper
    law = pair.delta
    if law is not None and times == 1:
        assert holds(fewer, law(level, direction))


def test_the_order_of_parts_does_not_matter() -> None:
    parts = [
        (cells_of(GaussianPair(number("0.2"))), 20),
        (cells_of(Sampled(LaplacePair(number(1)), number("0.1"))), 50),
        (cells_of(RandomisedResponsePair(number("0.05"))), 100),
    ]
    one, other = (delta_by_lattice(order, number(2)) for order in (parts, parts[::-1]))
    assert holds(one, other)
    assert 0 < gap(one) < 0.05


def test_different_gaussian_releases_add_up() -> None:
    parts = [(cells_of(GaussianPair(number(shift))), times) for shift, times in (("0.3", 4), ("0.1", 28), ("0.6", 1))]
    truth = law_of(GaussianPair(number(1)))(number(2))
    found = delta_by_lattice(parts, number(2))
    assert holds(found, truth)
    assert gap(found) < 0.02


@pytest.mark.slow
def test_a_bare_delta_law_gives_an_upper_end() -> None:
    bare = DensityPair(delta_law=law_with_both(GaussianPair(number("0.1"))))
    truth = law_of(GaussianPair(number(1)))(number(3))
    found = delta_by_lattice([(cells_of(bare), 100)], number(3))
    assert found.lower == 0
    assert truth.lower <= found.upper <= truth.upper * Fraction(12, 10)


def law_with_both(pair: Pair) -> Callable[[Enclosure, Direction], Enclosure]:
    law = pair.delta
    assert law is not None
    return law


def test_enclosed_parameters_and_levels() -> None:
    pair = SampledGaussian(Enclosure.between("0.9", 1), Enclosure.between("0.1", "0.11"))
    found = delta_by_lattice([(cells_of(pair), 30)], Enclosure.between(2, "2.1"))
    for shift, rate, epsilon in (("0.9", "0.1", "2.1"), (1, "0.11", 2)):
        corner = SampledGaussian(number(shift), number(rate))
        assert holds(found, delta_by_lattice([(cells_of(corner), 30)], number(epsilon)))
    assert gap(found) > 0.1


@pytest.mark.parametrize(
    ("pair", "times", "epsilon"),
    [
        (GaussianPair(number("0.1")), 10, "1000"),
        (GaussianPair(number(100)), 3, "1"),
        (GaussianPair(number("1e-12")), 10**9, "0.1"),
        (SampledGaussian(number(1), number("1e-12")), 10**6, "0"),
        (SampledGaussian(number(1), number(0)), 10, "0"),
        (LaplacePair(number(700)), 2, "10"),
        (RandomisedResponsePair(number(0)), 10**9, "0"),
    ],
)
def test_corners_have_an_answer(pair: Pair, times: int, epsilon: str) -> None:
    for direction in Direction:
        found = delta_by_lattice([(cells_of(pair, direction), times)], number(epsilon), points=1 << 12)
        assert 0 <= found.lower <= found.upper <= 1


def powers_of_ten(least: int, greatest: int) -> st.SearchStrategy[Enclosure]:
    return st.integers(least, greatest).map(lambda exponent: number(Fraction(10) ** exponent))


@pytest.mark.slow
@given(
    kind=st.sampled_from((GaussianPair, LaplacePair, SampledGaussian)),
    shift=powers_of_ten(-30, 30),
    rate=powers_of_ten(-30, 0),
    times=st.sampled_from((1, 2, 7, 1000, 2**39)),
    far=st.none() | powers_of_ten(-3, 31),
    asked=powers_of_ten(-30, 300),
    at_delta=st.booleans(),
    direction=st.sampled_from(Direction),
)
@example(SampledGaussian, number(1), number("0.1"), 6, number("1e-3"), number(10**30), False, REMOVE)  # far beyond all
@example(SampledGaussian, number(1), number("0.1"), 6, number("1e30"), number("1e-5"), True, REMOVE)  # one loss far off
@example(GaussianPair, number("1e-6"), number(1), 7, None, number(10**231), False, ADD)  # whose square is no float
@example(GaussianPair, number(100), number(1), 2**39, None, number(33), False, ADD)  # whose bound is no float
@examples(200)
def test_numbers_of_any_size_have_a_proven_answer_or_are_refused(
    kind: Any,
    shift: Enclosure,
    rate: Enclosure,
    times: int,
    far: Enclosure | None,
    asked: Enclosure,
    at_delta: bool,
    direction: Direction,
) -> None:
    pair = kind(shift, rate) if kind is SampledGaussian else kind(shift)
    parts = [(cells_of(pair, direction), times)]
    if far is not None:
        parts.append((cells_of(GaussianPair(far), direction), 1))
    level = Enclosure.of(1) / asked if at_delta and asked.lower > 1 else asked
    try:
        found = (epsilon_by_lattice if at_delta else delta_by_lattice)(parts, level, points=1 << 12)
    except InvalidValue:
        return
    assert 0 <= found.lower <= found.upper
    assert at_delta or found.upper <= 1
    if kind is GaussianPair and max(found.upper, level.upper) < 2**62:  # beyond, e^ε is no enclosure
        total = (shift * shift * times + (0 if far is None else far * far)).sqrt()
        if not at_delta:
            assert holds(found, law_of(GaussianPair(total))(level))
        else:
            assert law_of(GaussianPair(total))(number(found.upper)).lower <= level.upper
            assert law_of(GaussianPair(total))(number(found.lower)).upper >= level.lower or not found.lower


def test_every_epsilon_suffices_for_a_delta_of_one() -> None:
    assert epsilon_by_lattice([(cells_of(LaplacePair(number(1))), 5)], number(1)).upper == 0


def test_the_masses_of_a_plot() -> None:
    losses, masses = loss_masses([(cells_of(GaussianPair(number("0.1"))), 100)])
    assert math.isclose(np.sum(masses), 1, rel_tol=1e-6)
    assert math.isclose(losses @ masses, 0.5, rel_tol=1e-3)
    assert np.all(masses >= 0)


@pytest.mark.parametrize(
    ("parts", "points", "error", "message"),
    [
        ([], None, InvalidValue, "parts"),
        ([(cells_of(LaplacePair(number(1))), 0)], None, InvalidValue, "times"),
        ([(cells_of(LaplacePair(number(1))), 2.0)], None, InvalidType, "times"),
        ([(cells_of(LaplacePair(number(1))), 2**41)], None, InvalidValue, "releases"),
        ([(cells_of(LaplacePair(number(1))), 1)], 1000, InvalidValue, "power of two"),
    ],
)
def test_bad_input_is_refused(
    parts: list[tuple[Cells, int]], points: int | None, error: type[InvalidValue], message: str
) -> None:
    with pytest.raises(error, match=message):
        delta_by_lattice(parts, number(1), points=points)


def test_a_delta_of_zero_is_refused() -> None:
    with pytest.raises(InvalidValue, match="delta"):
        epsilon_by_lattice([(cells_of(LaplacePair(number(1))), 1)], number(0))


def test_where_too_much_is_at_infinity_what_was_known_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    """A composition with rare losses apart may have more mass there than δ: it then has no ε to give."""
    parts = [(cells_of(GaussianPair(number("0.1"))), 100)]
    target = number("1e-6")
    known = epsilon_by_lattice(parts, target)

    class Peeled:
        least_delta = number("1e-5")

        def epsilon(self, delta: Enclosure) -> Enclosure:
            raise InvalidValue("delta", delta, "a δ above the mass at infinite losses")

    monkeypatch.setattr(lattice, "_peeled", lambda *_: Peeled())
    assert lattice._closer(lattice._merged(parts), target, known, None) == known


@pytest.mark.parametrize(
    ("answers", "points", "expected", "asked"),
    [
        ([(1, 2), (1, "1.5"), (1, "1.4"), (1, "1.3")], None, (1, "1.3"), 4),
        ([(1, "1.0001"), (1, "1.0002")], None, (1, "1.0001"), 2),
        ([(1, "1.0001"), ("1.00005", 2)], None, ("1.00005", "1.0001"), 2),
        ([(1, 2)], 1 << 12, (1, 2), 1),
        (["delta", (1, "1.0001")], None, (1, "1.0001"), 2),
        ([(1, 2), "delta", ("1.2", 3), "delta"], None, ("1.2", 2), 4),
        ([(1, 2), "parts"], None, (1, 2), 2),
        (["parts"], None, None, 1),
        (["delta", "delta", "delta", "delta"], None, None, 4),
    ],
)
def test_finer_lattices_are_tried_until_both_ends_are_close(
    answers: list[Any], points: int | None, expected: tuple[Any, Any] | None, asked: int
) -> None:
    """The two coarsest always are, and what one proves stays; a finer one may have less mass at infinity."""
    left, gaps = list(answers), []

    def bounded(gap: float) -> Enclosure:
        gaps.append(gap)
        answer = left.pop(0)
        if isinstance(answer, str):
            raise InvalidValue(answer, 0, "something else")
        return Enclosure.between(*answer)

    if expected is None:
        with pytest.raises(InvalidValue, match=answers[-1]):
            lattice._refined(bounded, points, Fraction(1, 1000))
    else:
        assert lattice._refined(bounded, points, Fraction(1, 1000)) == Enclosure.between(*expected)
    assert len(gaps) == asked
    assert gaps == sorted(gaps, reverse=True)


def test_a_loss_at_a_tiny_rate_leaves_no_end_open() -> None:
    """The lattice that the others ask for has more mass at infinite losses than δ; a finer one has less."""
    noise = [
        (cells_of(LaplacePair(number("1.6"))), 5),
        (cells_of(Sampled(GaussianPair(number(Fraction(5, 3))), number("0.54"))), 12),
    ]
    rare = (cells_of(Sampled(GaussianPair(number(Fraction(1, 27))), number("0.000131"))), 226)
    delta = number("2e-10")
    found, without = epsilon_by_lattice([*noise, rare], delta), epsilon_by_lattice(noise, delta)
    assert without.lower <= found.upper
    assert found.upper - found.lower <= found.upper / 1000
