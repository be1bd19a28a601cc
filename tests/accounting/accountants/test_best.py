"""The best of several accountants, asked about accountants whose findings are known."""

from __future__ import annotations

from fractions import Fraction

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.accountants import BASIC, BEST, Accountant, BestAccountant, Bounds, Finding, WorstPairs
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.notions import APPROXIMATE
from certdp.accounting.pairs import LaplacePair
from tests.support.cases import examples

LAPLACE = LaplacePair(Enclosure.of("0.5")).repeated(5)
RUN = WorstPairs((LAPLACE,), (LAPLACE,))
TRUTH = 50
EXACTLY_0, PERHAPS_0, ABOVE_0 = Enclosure.of(0), Enclosure.between(0, "0.1"), Enclosure.between("1e-9", "0.1")


@frozen
class Knowing(Accountant):
    """Finds the same bounds whatever it is asked."""

    name = "knowing"
    theorems = ()

    bounds: Bounds

    def epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Finding:
        return Finding(self.bounds, APPROXIMATE, (), self)

    def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding:
        return Finding(self.bounds, APPROXIMATE, (), self)


@frozen
class Settling(Knowing):
    """Says that nobody can undercut it."""

    name = "settling"
    lossless = True


@st.composite
def bounds(draw: st.DrawFn) -> Bounds:
    below, above = draw(st.integers(0, TRUTH)), draw(st.integers(TRUTH, 2 * TRUTH))
    return Bounds(Enclosure.between(below, above), two_sided=draw(st.booleans()))


@examples(60)
@given(found=st.lists(bounds(), min_size=1, max_size=4), of_epsilon=st.booleans())
def test_the_smallest_upper_end_and_the_largest_proven_lower_end(found: list[Bounds], of_epsilon: bool) -> None:
    best = BestAccountant(tuple(map(Knowing, found)))
    answer = (best.epsilon if of_epsilon else best.delta)(RUN, EXACTLY_0)
    assert answer is not None
    assert answer.upper == min(one.enclosure.upper for one in found)
    lower = [one.enclosure.lower for one in found if one.two_sided]
    assert answer.bounds.two_sided == bool(lower)
    assert not lower or answer.bounds.enclosure.lower == max(lower)


@pytest.mark.parametrize("delta", [EXACTLY_0, PERHAPS_0, ABOVE_0], ids=str)
def test_one_accountant_settles_epsilon_only_at_a_delta_that_is_surely_above_0(delta: Enclosure) -> None:
    """Without one, the simplest of equal bounds is stated."""
    simple = Knowing(Bounds(Enclosure.of(TRUTH), two_sided=True))
    lossless = Settling(Bounds(Enclosure.of(TRUTH), two_sided=True, sharp=True))
    answer = BestAccountant((simple, lossless)).epsilon(RUN, delta)
    assert answer is not None
    assert answer.accountant == (lossless if delta == ABOVE_0 else simple)


def test_pure_losses_are_stated_by_basic_composition() -> None:
    answer = BEST.epsilon(RUN, EXACTLY_0)
    assert answer is not None
    assert (answer.accountant, answer.upper) == (BASIC, Fraction(5, 2))
