"""Shares of a budget, the noise they buy, and how wide it is."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidValue
from certdp.mechanisms.lattice import noise_unit
from certdp.queries.noise import GaussianNoise, GaussianShare, LaplaceNoise, PureShare
from tests.support.cases import examples

positive = st.fractions(Fraction(1, 1000), 20)


@examples(100)
@given(total=positive, parts=st.integers(1, 50))
def test_the_parts_of_a_share_are_within_it_and_use_it_up(total: Fraction, parts: int) -> None:
    pure = PureShare(total).split(parts)
    assert (1 - Fraction(1, 2**30)) * total < parts * pure.epsilon < total
    gaussian = GaussianShare(total).split(parts)
    assert (1 - Fraction(1, 2**30)) * total**2 < parts * gaussian.mu**2 < total**2


@examples(50)
@given(mu=st.fractions(Fraction(1, 1000), 5))
def test_the_pure_cost_of_a_gaussian_share_is_within_it(mu: Fraction) -> None:
    """Randomised response with ε is exactly 2Φ⁻¹(e^ε/(1 + e^ε))-GDP."""
    epsilon = mpmath.mpf(GaussianShare(mu).pure.numerator) / GaussianShare(mu).pure.denominator
    odds = mpmath.exp(epsilon)
    reached = 2 * mpmath.sqrt(2) * mpmath.erfinv(2 * odds / (1 + odds) - 1)
    limit = mpmath.mpf(mu.numerator) / mu.denominator
    assert limit * (1 - mpmath.mpf(10) ** -6) < reached < limit


@pytest.mark.parametrize("scale", ["1/3", "1", "17", "900"])
@pytest.mark.parametrize("unit", ["1", "1/8"])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999999])
def test_the_half_width_of_discrete_laplace_noise_is_the_least_one(scale: str, unit: str, confidence: float) -> None:
    noise = LaplaceNoise(Fraction(scale), Fraction(unit))
    base = mpmath.exp(-mpmath.mpf(noise.unit.numerator) / noise.unit.denominator / noise.scale * 1)
    steps = noise.half_width(confidence) / float(noise.unit)
    assert steps == int(steps)

    def within(k: int) -> mpmath.mpf:
        return (1 - base) / (1 + base) * (1 + 2 * sum(base**j for j in range(1, k + 1)))

    assert within(int(steps)) >= confidence * (1 - 1e-15)
    assert not steps or within(int(steps) - 1) < confidence
    variance = 2 * base / (1 - base) ** 2 * float(noise.unit) ** 2
    assert noise.standard_deviation == pytest.approx(float(mpmath.sqrt(variance)), rel=1e-12)


@pytest.mark.parametrize("scale", ["1/3", "2", "900"])
def test_the_half_width_of_normal_noise_has_half_a_cell_more(scale: str) -> None:
    noise = GaussianNoise(Fraction(scale), Fraction(1))
    width = noise.half_width(0.95) - float(noise_unit(noise.scale)) / 2
    assert width == pytest.approx(float(noise.scale) * 1.959963984540054, rel=1e-13)
    assert noise.half_width_of_sums(0.95) == noise.half_width(0.95)
    assert noise.standard_deviation == float(noise.scale)


@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999"])
def test_sums_of_noises_are_within_the_tail_of_one_and_a_unit(confidence: str) -> None:
    noise = LaplaceNoise(Fraction(7), Fraction(1, 8))
    reach = noise.half_width_of_sums(float(confidence)) - 1 / 8
    assert mpmath.exp(-reach / 7) == pytest.approx(1 - float(confidence), rel=1e-9)
    assert reach < noise.half_width(float(confidence)) + 2 / 8


def test_contributions_and_costs_scale_the_noise() -> None:
    assert PureShare(Fraction(1, 2)).noise(3, Fraction(1)) == LaplaceNoise(Fraction(6), Fraction(1))
    assert GaussianShare(Fraction(1, 2)).noise(3, Fraction(1)) == GaussianNoise(Fraction(6), Fraction(1))


@examples(200)
@given(mu=st.fractions(Fraction(1, 10**7), 100), rows=st.integers(1, 9), finest=st.sampled_from(["1", "1/1073741824"]))
def test_the_grid_of_the_noise_rounds_no_sum(mu: Fraction, rows: int, finest: str) -> None:
    """Sums are whole units, and the grid's unit divides theirs: so a row moves what is rounded by what it adds."""
    noise = GaussianShare(mu).noise(rows, Fraction(finest))
    (grid,) = noise.mechanism.grids.values()
    assert noise.unit % grid == 0
    assert 1 % noise.unit == 0
    assert noise.unit >= Fraction(finest)


def test_a_share_whose_noise_has_no_grid_of_whole_rows_is_refused() -> None:
    for power in range(20, 40):
        share, unit = GaussianShare(Fraction(1, 2**power)), noise_unit(Fraction(2**power))
        if unit > 1:
            with pytest.raises(InvalidValue, match="share"):
                share.noise(1, Fraction(1))
        else:
            assert share.noise(1, Fraction(1, 2**30)).unit == unit
    assert noise_unit(Fraction(2**20)) < 1 < noise_unit(Fraction(2**39))


def test_a_pure_share_is_split_down_to_the_least_epsilon() -> None:
    least = Fraction(1, 2**64)
    assert PureShare(3 * least * Fraction(101, 100)).split(3).epsilon >= least
    with pytest.raises(InvalidValue, match="share"):
        PureShare(3 * least * Fraction(99, 100)).split(3)


def test_a_gaussian_share_that_hides_nothing_costs_no_more_than_a_large_pure_one() -> None:
    for mu in (16, 40, 10**6):
        assert 34 < GaussianShare(Fraction(mu)).pure < 36


def test_sums_finer_than_the_grid_are_refused() -> None:
    """The control: of numbers cut to a grid of 2^-28 a step of 2^-30 moves some by 2^-28."""
    with pytest.raises(InvalidValue, match="multiple"):
        GaussianNoise(Fraction(6), Fraction(1, 2**30))
    step = Fraction(1, 2**30)
    grid = noise_unit(Fraction(6))
    near = grid - step
    assert (near + step) // grid - near // grid == 1 > step / grid
    with pytest.raises(InvalidValue, match="share"):
        GaussianShare(Fraction(1, 10**12)).noise(1, Fraction(1))
