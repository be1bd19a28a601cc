"""The pairs of several runs together, against compositions of one pair of each."""

from __future__ import annotations

from certdp.accounting.accountants import WorstPairs
from certdp.accounting.accountants.composed_runs import LargestOf, composed
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs import GaussianPair, LaplacePair, Pair, compose_pairs


def laplace(count: int) -> tuple[Pair, ...]:
    return tuple(LaplacePair(Enclosure.of(1) / (k + 2)) for k in range(count))


def test_one_run_is_taken_as_it_is() -> None:
    one = WorstPairs(laplace(70), laplace(2))
    assert composed([one], ()) is one


def test_few_runs_are_every_composition_of_one_pair_of_each() -> None:
    first, second, together = laplace(2), (GaussianPair(Enclosure.of(1)),), laplace(1)
    found = composed([WorstPairs(first, ()), WorstPairs(second, ())], together)
    assert set(found.bounding) == {compose_pairs((pair, second[0])) for pair in first}
    assert found.reached == together


def test_where_they_are_many_runs_with_one_pair_keep_it() -> None:
    """So that of its law nothing is lost; the others count with their largest loss in each notion."""
    many, single = laplace(65), (GaussianPair(Enclosure.of(1)),)
    found = composed([WorstPairs(many, ()), WorstPairs(single, ())], ())
    assert found.bounding == (compose_pairs((LargestOf(many), single[0])),)
    few = composed([WorstPairs(many[:64], ()), WorstPairs(single, ())], ())
    assert len(few.bounding) == 64
