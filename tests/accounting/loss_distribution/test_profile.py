"""δ at one ε after another: around the truth whatever was asked before."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.loss_distribution.inversion import Contour, Known, contours_at, delta_by_transforms
from certdp.accounting.loss_distribution.lattice import delta_by_lattice
from certdp.accounting.loss_distribution.profile import ANSWER, PICTURE, KeptContours, Nearness
from certdp.accounting.loss_distribution.transforms import GaussianTransform, Transform, sampled_gaussian_transform
from certdp.accounting.pairs import SampledGaussian
from certdp.accounting.relations import Direction

NARROW = Fraction(1, 1000)


def sampled(rate: str, shift: str = "1", way: Direction = Direction.REMOVE) -> Transform:
    return sampled_gaussian_transform(Enclosure.of(rate), Enclosure.of(shift), way)


def normal_delta(shift: Fraction, epsilon: Fraction) -> mpmath.mpf:
    """δ(ε) of normal noise (Balle, Wang 2018, Theorem 8)."""
    s, level = (mp.mpf(one.numerator) / one.denominator for one in (shift, epsilon))
    return mpmath.ncdf(s / 2 - level / s) - mpmath.exp(level) * mpmath.ncdf(-s / 2 - level / s)


@given(st.lists(st.integers(0, 80), min_size=1, max_size=8), st.sampled_from([1, 9, 100]))
def test_normal_noise_at_any_epsilons_in_any_order(tenths: list[int], times: int) -> None:
    shift = Fraction(1, 10)
    kept = KeptContours([(GaussianTransform(Enclosure.of(shift**2)), times)], PICTURE)
    with mp.workdps(60):
        for epsilon in (Fraction(number, 10) for number in tenths):
            found = kept.delta(Enclosure.of(epsilon))
            if found is None:
                continue
            truth = normal_delta(shift * int(times**0.5), epsilon)
            lower, upper = (mp.mpf(end.numerator) / end.denominator for end in (found.lower, found.upper))
            assert lower <= truth <= upper
            assert found.width <= NARROW * found.upper


@pytest.mark.parametrize("way", list(Direction))
@pytest.mark.parametrize("rate", ["1/64", "1/50"])  # the second is no binary64 number: ends are composed apart
@pytest.mark.parametrize("nearness", [PICTURE, ANSWER], ids=["picture", "answer"])
def test_samples_beside_the_lattice(nearness: Nearness, rate: str, way: Direction) -> None:
    pair = SampledGaussian(Enclosure.of(1), Enclosure.of(rate))
    kept = KeptContours([(pair.loss_transform(way), 300)], nearness)
    for level in ("0", "1/2", "1", "2", "1/4", "0"):
        epsilon = Enclosure.of(level)
        found, other = kept.delta(epsilon), delta_by_lattice([(pair.loss_cells(way), 300)], epsilon)
        assert found is not None
        assert found.lower <= other.upper
        assert other.lower <= found.upper
        assert found.width <= NARROW * found.upper


LEVELS = ("0", "1/100", "2/5", "1/5", "1/10", "3/20", "1/8", "0")
RARE = ("1/1000", "1", 100)
"""Few large losses among small ones, as rate, shift and number: contours hide up to 10^-3 of δ."""


@pytest.mark.parametrize("case", [("1/50", "1", 300), RARE], ids=["many", "rare"])
@pytest.mark.parametrize("way", list(Direction))
def test_answers_are_not_wider_than_by_a_contour_for_each(way: Direction, case: tuple[str, str, int]) -> None:
    rate, shift, times = case
    parts = [(sampled(rate, shift, way), times)]
    kept = KeptContours(parts, ANSWER)
    for level in LEVELS:
        found, alone = (law(Enclosure.of(level)) for law in (kept.delta, partial(delta_by_transforms, parts)))
        assert found is not None
        assert alone is not None
        assert found.lower <= alone.upper
        assert alone.lower <= found.upper
        assert found.width <= max(alone.width * (1 + Fraction(1, 2**20)), found.upper * ANSWER.width)


def tried(monkeypatch: pytest.MonkeyPatch) -> list[Contour]:
    """The contours that are asked for δ from now on, as often as they are."""
    found: list[Contour] = []
    tell = Contour.delta

    def counted(self: Contour, epsilon: Fraction) -> Enclosure | None:
        found.append(self)
        return tell(self, epsilon)

    monkeypatch.setattr(Contour, "delta", counted)
    return found


def test_contours_that_hide_too_much_are_not_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two that are meant for ε = 2/5 the second tells δ: of the lower end, which is near, it alone is asked."""
    asked = tried(monkeypatch)
    kept = KeptContours([(sampled("3/1000"), 33)], ANSWER)
    assert kept.delta(Enclosure.of("2/5")) is not None
    assert len(asked) == 2 + 1
    for level in ("1/5", "1/10", "3/20"):  # by the one that is kept, which tells them better than others
        assert kept.delta(Enclosure.of(level)) is not None
    assert len({id(contour) for contour in asked}) == 2 + 1


def test_what_lies_between_two_epsilons_is_enclosed() -> None:
    parts = [(sampled("1/64"), 300)]
    around = KeptContours(parts, PICTURE).delta(Enclosure.between("1/2", "5/8"))
    assert around is not None
    for level in ("1/2", "9/16", "5/8"):
        inside = delta_by_transforms(parts, Enclosure.of(level))
        assert inside is not None
        assert around.lower <= inside.lower
        assert inside.upper <= around.upper


@pytest.mark.parametrize("way", list(Direction))
def test_all_parameters_inside_are_enclosed(way: Direction) -> None:
    around = sampled_gaussian_transform(Enclosure.between("1/64", "1/32"), Enclosure.of(1), way)
    wide = KeptContours([(around, 300)], PICTURE).delta(Enclosure.of(1))
    assert wide is not None
    for rate in ("1/64", "1/40", "1/32"):
        inside = KeptContours([(sampled(rate, way=way), 300)], PICTURE).delta(Enclosure.of(1))
        assert inside is not None
        assert wide.lower <= inside.lower
        assert inside.upper <= wide.upper


def searches(monkeypatch: pytest.MonkeyPatch) -> list[Fraction]:
    """The ε for which contours are searched from now on."""
    found: list[Fraction] = []

    def searched(parts: Known, epsilon: Fraction) -> Iterator[Contour]:
        found.append(epsilon)
        return contours_at(parts, epsilon)

    monkeypatch.setattr("certdp.accounting.loss_distribution.profile.contours_at", searched)
    return found


def test_few_contours_serve_many_epsilons(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = searches(monkeypatch)
    kept = KeptContours([(sampled("1/64"), 10)], PICTURE)
    values = [kept.delta(Enclosure.of(Fraction(number, 25))) for number in range(15)]
    assert all(value is not None for value in values)
    assert len(asked) < 5


def test_where_no_contour_tells_few_are_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = searches(monkeypatch)
    kept = KeptContours([(sampled("1/64", "2"), 2)], PICTURE)  # rare large losses
    assert [kept.delta(Enclosure.of(number)) for number in range(1, 7)] == [None] * 6
    assert asked == [1, 2]


def test_answers_are_searched_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = searches(monkeypatch)
    kept = KeptContours([(sampled("1/64", "2"), 2)], ANSWER)
    assert [kept.delta(Enclosure.of(number)) for number in range(1, 5)] == [None] * 4
    assert asked == [1, 2, 3, 4]


def test_what_a_kept_contour_tells_nearly_is_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where none that is meant for an ε tells δ, one that is kept answers pictures, and no answer by 10^-6."""
    rate, shift, times = RARE
    parts, level = [(sampled(rate, shift), times)], Enclosure.of("2/5")
    kept, drawn = KeptContours(parts, ANSWER), KeptContours(parts, PICTURE)
    for one in (kept, drawn):
        assert one.delta(level) is not None
    monkeypatch.setattr("certdp.accounting.loss_distribution.profile.contours_at", lambda parts, epsilon: iter(()))
    assert kept.delta(level) is None
    assert drawn.delta(level) is not None


def test_nothing_is_lost_beyond_the_largest_loss_and_by_nothing() -> None:
    bounded = KeptContours([(sampled("1/2", way=Direction.ADD), 3)], PICTURE)  # at most 3·log 2
    beyond = bounded.delta(Enclosure.of("2.0795"))
    assert beyond is not None
    assert beyond.upper == 0
    nothing = KeptContours([(sampled("1/2", "0"), 3)], PICTURE).delta(Enclosure.of(0))
    assert nothing is not None
    assert nothing.upper == 0


def test_an_epsilon_below_0_is_refused() -> None:
    with pytest.raises(InvalidValue, match="epsilon"):
        KeptContours([(sampled("1/2"), 3)], PICTURE).delta(Enclosure.between(-1, 1))
