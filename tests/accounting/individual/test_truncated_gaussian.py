"""The truncated Gaussian label: what it says holds, and it is no guarantee of Gaussian DP."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.individual.truncated_gaussian import TruncatedGaussian, truncated_gaussian
from certdp.accounting.pairs import GaussianPair, LaplacePair
from certdp.accounting.pairs.gaussian import SampledGaussian
from certdp.accounting.pairs.laws import DeltaLaw
from certdp.accounting.pairs.pair import Pair
from certdp.accounting.relations import Direction
from certdp.accounting.units import Delta
from tests.support.cases import examples


def law_of(pair: Pair) -> DeltaLaw:
    assert pair.delta is not None
    return pair.delta


def sampled(rate: str, shift: str = "1") -> SampledGaussian:
    return SampledGaussian(Enclosure.of(shift), Enclosure.of(rate))


def worse(pair: Pair, epsilon: Enclosure) -> Enclosure:
    return law_of(pair)(epsilon, Direction.REMOVE).maximum(law_of(pair)(epsilon, Direction.ADD))


def assert_holds(pair: Pair, label: TruncatedGaussian) -> None:
    gaussian = GaussianPair(Enclosure.of(label.mu, precision=96))
    for k in range(13 if label.epsilon else 0):
        epsilon = Enclosure.of(label.epsilon * k * 9 / 110, precision=96)  # not where the proof looked
        assert worse(pair, epsilon).lower <= gaussian.delta(epsilon, Direction.REMOVE).upper
    for factor in (1, Fraction("1.01"), 2):
        assert worse(pair, Enclosure.of(label.epsilon * factor, precision=96)).lower <= label.delta.value


@examples(12)
@given(st.integers(0, 12).map(lambda k: 2.0**-k), st.integers(-12, 8).map(lambda k: 2.0 ** (k / 4)), st.integers(1, 14))
def test_the_label_holds(rate: float, shift: float, digits: int) -> None:
    pair = SampledGaussian(Enclosure.of(shift), Enclosure.of(rate))
    assert_holds(pair, truncated_gaussian(law_of(pair), Delta(Fraction(1, 10**digits))))


def test_a_gaussian_pair_is_labelled_with_its_own_shift() -> None:
    for delta in ("1e-2", "1e-6", "1e-12"):
        label = truncated_gaussian(law_of(GaussianPair(Enclosure.of(1))), Delta(delta))
        assert 1 <= label.mu < Fraction("1.005")


def test_another_pair() -> None:
    pair = LaplacePair(Enclosure.of("0.4"))
    assert_holds(pair, truncated_gaussian(law_of(pair), Delta("1e-4")))


@pytest.mark.slow
def test_mu_grows_as_less_is_cut_off_and_stays_below_the_pair_s_own() -> None:
    found = [truncated_gaussian(law_of(sampled("0.01")), Delta(f"1e-{digits}")).mu for digits in (4, 8, 16)]
    assert sorted(found) == found
    assert found[0] < Fraction("0.1")
    assert found[-1] < 1


def test_beyond_the_cut_it_says_nothing_of_mu() -> None:
    """δ(ε) exceeds δ_μ(ε) there: as a guarantee of Gaussian DP the label would be wrong."""
    pair = sampled("0.01")
    label = truncated_gaussian(law_of(pair), Delta("1e-5"))
    far = Enclosure.of(label.epsilon * 4)
    gaussian = GaussianPair(Enclosure.of(label.mu)).delta(far, Direction.REMOVE)
    assert law_of(pair)(far, Direction.REMOVE).lower > gaussian.upper
    assert "not a guarantee" in str(label)


def test_what_is_within_the_cut_at_once_has_no_shift() -> None:
    label = truncated_gaussian(law_of(sampled("1e-6")), Delta("1e-5"))
    assert label.mu == label.epsilon == 0


def test_at_no_delta_it_is_refused() -> None:
    with pytest.raises(InvalidValue, match="Gaussian DP"):
        truncated_gaussian(law_of(sampled("0.1")), Delta(0))
