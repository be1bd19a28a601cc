"""Envelopes: at each ε the largest divergence of several finite pairs, in both directions, and nothing else."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs import Envelope, FinitePair
from certdp.accounting.relations import Direction
from tests.support.cases import examples


@st.composite
def tables(draw: st.DrawFn) -> FinitePair:
    """Laws on three outputs, some of which one of them may lack."""
    weights = st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any)
    laws = (tuple(Fraction(one, sum(law)) for one in law) for law in (draw(weights), draw(weights)))
    return FinitePair(*laws)


HALF = Fraction(1, 2)


@examples(60)
@given(pairs=st.lists(tables(), min_size=1, max_size=4), factor=st.fractions(1, 9, max_denominator=9))
@example(pairs=[FinitePair((HALF, HALF), (HALF, HALF))], factor=Fraction(1))
@example(pairs=[FinitePair((HALF, HALF), (Fraction(1), Fraction(0)))], factor=Fraction(3, 2))
def test_every_divergence_is_the_largest_of_the_pairs(pairs: list[FinitePair], factor: Fraction) -> None:
    found = Envelope.of(pairs)
    for direction in Direction:
        largest = max(pair.hockey_stick(factor, direction) for pair in pairs)
        assert found.table.hockey_stick(factor, direction) == largest
        assert found.delta(Enclosure.of(factor).log(), direction).contains(largest)
    ratios = [pair.greatest_ratio(direction) for pair in pairs for direction in Direction]
    assert (found.pure is None) == (None in ratios)


def test_other_notions_know_nothing_of_an_envelope() -> None:
    pair = FinitePair((HALF, HALF), (Fraction(1, 4), Fraction(3, 4)))
    found = Envelope.of([pair])
    assert pair.is_one_pair
    assert not found.is_one_pair
    assert {found.renyi, found.zero_concentrated, found.gaussian, found.loss_cells} == {None}
    delta = Enclosure.of("1/8")
    assert found.smallest_epsilon(delta, Direction.REMOVE) == pair.smallest_epsilon(delta, Direction.REMOVE)
