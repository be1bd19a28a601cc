"""ε of releases that become more: above the truth whatever was asked before, and next to it."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.loss_distribution.cells import Cells
from certdp.accounting.loss_distribution.growing import Growing
from certdp.accounting.loss_distribution.inversion import Known, contour_at_delta, delta_by_transforms, ends
from certdp.accounting.loss_distribution.lattice import delta_by_lattice
from certdp.accounting.loss_distribution.transforms import GaussianTransform, sampled_gaussian_transform
from certdp.accounting.pairs import SampledGaussian
from certdp.accounting.relations import Direction

DELTA = Enclosure.of("1e-5")
WAYS = list(Direction)


def sampled(rate: str, shift: str, way: Direction) -> tuple[SampledGaussian, Direction]:
    return SampledGaussian(Enclosure.of(shift), Enclosure.of(rate)), way


def normal_delta(shift: float, epsilon: Fraction) -> float:
    """δ(ε) of normal noise (Balle, Wang 2018, Theorem 8), with 30 digits."""
    with mp.workdps(30):
        level = mp.mpf(epsilon.numerator) / epsilon.denominator
        first, second = mpmath.ncdf(shift / 2 - level / shift), mpmath.ncdf(-shift / 2 - level / shift)
        return float(first - mpmath.exp(level) * second)


@given(st.lists(st.integers(1, 4000), min_size=1, max_size=5), st.sampled_from(["1/10", "1/40", "1/3"]))
def test_normal_noise_at_any_numbers_in_any_order(numbers: list[int], shift: str) -> None:
    growing = Growing(DELTA)
    exact = Fraction(shift)
    for number in numbers:
        found = growing.epsilon([(GaussianTransform(Enclosure.of(exact**2)), number)])
        if found is None:  # a loss of almost nothing
            assert normal_delta(float(exact) * number**0.5, Fraction(1, 100)) < 1e-5
            continue
        whole = float(exact) * number**0.5
        assert normal_delta(whole, found) <= 1e-5 * (1 + 1e-12)
        assert normal_delta(whole, found * (1 - Fraction(1, 2**20))) >= 1e-5 * (1 - 1e-12)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("rate", "shift"), [("1/100", "1"), ("1/50", "1/2"), ("1/4", "1/3")])
def test_samples_beside_the_lattice(rate: str, shift: str, way: Direction) -> None:
    """The lattice encloses δ by other means; numbers rise, fall, and come again."""
    pair, _ = sampled(rate, shift, way)
    cells: Cells = pair.loss_cells(way)
    transform, growing = pair.loss_transform(way), Growing(DELTA)
    answers: dict[int, list[Fraction]] = {}
    for number in (100, 130, 300, 1000, 200, 100):
        found = growing.epsilon([(transform, number)])
        assert found is not None
        there = delta_by_lattice([(cells, number)], Enclosure.of(found))
        assert there.lower <= DELTA.upper
        less = delta_by_lattice([(cells, number)], Enclosure.of(found * (1 - Fraction(1, 2**10))))
        assert less.upper > DELTA.lower
        answers.setdefault(number, []).append(found)
    first, again = answers[100]
    assert abs(first - again) <= first / 2**20
    assert answers[100][0] < answers[130][0] < answers[200][0] < answers[300][0] < answers[1000][0]


@pytest.mark.parametrize("way", WAYS)
def test_what_suffices_does_whatever_was_asked_before(way: Direction) -> None:
    transform = sampled_gaussian_transform(Enclosure.of("1/100"), Enclosure.of(1), way)
    growing = Growing(DELTA)
    for number in (200, 300, 900, 250):
        parts = [(transform, number)]
        least = Growing(DELTA).epsilon(parts)
        assert least is not None
        assert growing.suffices(parts, least * (1 + Fraction(1, 2**10)))
        assert not growing.suffices(parts, least * (1 - Fraction(1, 2**10)))


def test_other_releases_are_other_releases() -> None:
    """A contour of other transforms is not taken for them, whatever it would prove."""
    small, large = (sampled_gaussian_transform(Enclosure.of("1/100"), Enclosure.of(s), WAYS[0]) for s in ("1/2", "2"))
    growing = Growing(DELTA)
    asked = [[(small, 300)], [(large, 300)], [(small, 300), (large, 300)], [(large, 300), (small, 300)]]
    fresh = [Growing(DELTA).epsilon(parts) for parts in asked]
    for parts, alone in zip(asked, fresh, strict=True):
        found = growing.epsilon(parts)
        assert found is not None
        assert alone is not None
        assert abs(found - alone) <= alone / 2**20
        value = delta_by_transforms(parts, Enclosure.of(found))
        assert value is not None
        assert value.lower <= DELTA.upper


def known(number: int) -> Known:
    return ends([(sampled_gaussian_transform(Enclosure.of("1/100"), Enclosure.of(1), WAYS[0]), number)])[1]


def test_a_contour_counts_each_release() -> None:
    """The negative control: for fewer releases it proves a smaller δ, which is not that of all."""
    found = contour_at_delta(known(300), -11.5)
    assert found is not None
    contour, _ = found
    level = Fraction(1)
    others = [contour.of_others([number]) for number in (240, 300, 360)]
    values = [value for other in others if other is not None and (value := other.delta(level)) is not None]
    truths = [delta_by_transforms(known(n), Enclosure.of(level)) for n in (240, 300, 360)]
    assert len(values) == 3
    for value, truth in zip(values, truths, strict=True):
        assert truth is not None
        assert value.lower <= truth.upper
        assert truth.lower <= value.upper
    assert values[0].upper < values[1].lower
    assert values[1].upper < values[2].lower
    with pytest.raises(ValueError, match="zip"):
        contour.of_others([1, 2])
