"""Claims about batches drawn as a whole, against every batch of small data sets.

Legend: records are whole numbers from −1 to 1, of which a batch's sum is released with geometric noise, clamped to
where sums may be; e^ε of one step is `factor`, e^ε at which δ is asked for is `asked`. n records, batches of B. Every
set of records that may be drawn is gone through with its exact probability: the laws of outputs are exact tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, TypeAlias

from ...accounting.enclosures import Enclosure
from ...accounting.pairs import DiscreteLaplacePair, Pair
from ...accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT, Direction, Relation
from ...accounting.sampling.batches import Batches, FixedBatches, TruncatedPoisson
from ...plugins.contract import Case, Claim, Expectation, Finding
from .enclosed import enclosed_log
from .finite import Law, geometric_steps, hockey_stick, mixture, subsets

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_MOST = 8
Records: TypeAlias = Sequence[int]
_Draw: TypeAlias = Callable[[Records], Law]


def _releases(case: Case) -> Callable[[Records], Law]:
    """The law of the noisy sum of a batch."""
    reach = _MOST
    laws = geometric_steps(case["factor"], 2 * reach)
    return lambda batch: laws[reach + sum(batch)]


def _fixed(case: Case) -> _Draw:
    """The law of the output on a batch of B of the records."""
    release, size = _releases(case), case["batch"]

    def law(records: Records) -> Law:
        return mixture((Fraction(1, comb(len(records), size)), release(batch)) for batch in combinations(records, size))

    return law


def _truncated(case: Case) -> _Draw:
    """The law of the output on a Poisson sample of which at most B are kept."""
    release, size, rate = _releases(case), case["batch"], case["rate"]

    def law(records: Records) -> Law:
        parts = []
        for places in subsets(range(len(records))):
            share = rate ** len(places) * (1 - rate) ** (len(records) - len(places))
            kept = list(combinations(places, min(size, len(places))))
            parts += [(share / len(kept), release([records[i] for i in batch])) for batch in kept]
        return mixture((share, found) for share, found in parts if share)

    return law


def _neighbours(case: Case, relation: Relation) -> tuple[Records, Records]:
    """Both data sets: the record is the last one."""
    others, record, other = case["others"], case["record"], case["other"]
    if relation == ADD_REMOVE:
        return (*others, record), others
    return (*others, record), (*others, other if relation == REPLACE else 0)


def _base(case: Case) -> Pair:
    return DiscreteLaplacePair(enclosed_log(case["factor"]), Enclosure.of(1))


def _delta(pair: Pair, case: Case, direction: Direction) -> Enclosure:
    law = pair.delta
    assert law is not None
    return law(enclosed_log(case["asked"]), direction)


def _bounded(case: Case, draw: _Draw, quoted: Callable[[Relation], Pair], relations: Sequence[Relation]) -> Finding:
    """Whether the pair's δ bounds that of the outputs, in each direction."""
    holds, bounds, truths = True, [], []
    for relation in relations:
        first, second = map(draw, _neighbours(case, relation))
        for direction, laws in zip(Direction, ((first, second), (second, first)), strict=True):
            bound, truth = _delta(quoted(relation), case, direction), hockey_stick(*laws, case["asked"])
            holds = holds and truth <= bound.upper
            bounds.append(f"{relation.name}, {direction.value}: {bound}")
            truths.append(f"{relation.name}, {direction.value}: {float(truth):.12g}")
    return Finding(holds=holds, closed_form="; ".join(bounds), independent="; ".join(truths))


def _pair_of(batches: Batches, case: Case) -> Callable[[Relation], Pair]:
    def of(relation: Relation) -> Pair:
        pair = batches.pair(_base(case), relation)
        assert pair is not None
        return pair

    return of


def _fixed_batches(case: Case) -> FixedBatches:
    size = len(case["others"]) + 1
    return FixedBatches(Fraction(case["batch"], size), size)


def _truncated_batches(case: Case, *, more: int = 0) -> TruncatedPoisson:
    size = len(case["others"]) + 1 + more
    return TruncatedPoisson(rate=case["rate"], batch_size=case["batch"], data_size=size, at_most=more > 0)


def _examine_fixed(case: Case) -> Finding:
    return _bounded(case, _fixed(case), _pair_of(_fixed_batches(case), case), (REPLACE, ZERO_OUT))


def _examine_fixed_reached(case: Case) -> Finding:
    """Against equal records, and one that is as far from it as can be, one release has exactly that δ."""
    extreme = {**case, "others": (-1,) * len(case["others"]), "record": 1, "other": -1}
    first, second = map(_fixed(extreme), _neighbours(extreme, REPLACE))
    truth = hockey_stick(first, second, case["asked"])
    bound = _delta(_pair_of(_fixed_batches(extreme), extreme)(REPLACE), extreme, Direction.REMOVE)
    narrow = bound.width <= Fraction(1, 2**80)
    return Finding(holds=narrow and bound.contains(truth), closed_form=str(bound), independent=f"{float(truth):.12g}")


def _turned(first: tuple[Law, Law], turns: Sequence[bool]) -> tuple[Law, Law]:
    """Both laws of two releases, of which the second changes the data sets over after some outputs of the first."""
    here, there = first

    def second(output: int, *, of_first: bool) -> Law:
        return here if of_first != turns[output] else there

    return (
        tuple(p * q for o, p in enumerate(here) for q in second(o, of_first=True)),
        tuple(p * q for o, p in enumerate(there) for q in second(o, of_first=False)),
    )


def _turning(case: Case) -> Fraction:
    """δ of two releases on batches of a fixed size, of which the second one's records follow from the first output."""
    here, there = map(_fixed(case), _neighbours(case, REPLACE))
    turns = [q > p for p, q in zip(here, there, strict=True)]
    choices = (turns, [not turn for turn in turns], [False] * len(turns), [True] * len(turns))
    return max(
        hockey_stick(*_turned((a, b), turn), case["asked"])
        for a, b in ((here, there), (there, here))
        for turn in choices
    )


def _examine_turning(case: Case) -> Finding:
    """Two releases of a run that may turn."""
    pair = _pair_of(_fixed_batches(case), case)(REPLACE).repeated(2)
    bound, truth = _delta(pair, case, Direction.REMOVE), _turning(case)
    return Finding(holds=truth <= bound.upper, closed_form=str(bound), independent=f"{float(truth):.12g}")


def _examine_apart(case: Case) -> Finding:
    """A wrong rule: the two orders of the worst data sets are composed apart, and the maximum is taken last."""
    reached = _fixed_batches(case).reached(_base(case), REPLACE)
    assert reached is not None
    bound = max(_delta(reached.repeated(2), case, direction).upper for direction in Direction)
    truth = _turning(case)
    return Finding(holds=truth <= bound, closed_form=f"{float(bound):.12g}", independent=f"{float(truth):.12g}")


def _examine_not_poisson(case: Case) -> Finding:
    """A wrong bound: Poisson sampling at the rate B/n."""
    pair = _base(case).sampled(_fixed_batches(case).included(0))
    return _bounded(case, _fixed(case), lambda _: pair, (REPLACE,))


def _examine_truncated(case: Case) -> Finding:
    return _bounded(case, _truncated(case), _pair_of(_truncated_batches(case), case), (ADD_REMOVE, REPLACE, ZERO_OUT))


def _examine_at_most(case: Case) -> Finding:
    batches = _truncated_batches(case, more=case["more"])
    return _bounded(case, _truncated(case), _pair_of(batches, case), (ADD_REMOVE, REPLACE, ZERO_OUT))


def _examine_not_add_remove(case: Case) -> Finding:
    """A wrong bound: what truncated batches cost under add/remove, for replaced records."""
    pair = _pair_of(_truncated_batches(case), case)(ADD_REMOVE)
    return _bounded(case, _truncated(case), lambda _: pair, (REPLACE,))


def _examine_not_untruncated(case: Case) -> Finding:
    """A wrong bound: Poisson sampling that is not cut, for truncated batches under add/remove."""
    pair = _base(case).sampled(Enclosure.of(case["rate"]))
    return _bounded(case, _truncated(case), lambda _: pair, (ADD_REMOVE,))


def _cases(most: int = _MOST) -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def of(size: int) -> SearchStrategy[Case]:
        values = st.integers(-1, 1)
        return st.fixed_dictionaries(
            {
                "factor": st.sampled_from([Fraction(3, 2), Fraction(2), Fraction(4)]),
                "asked": st.sampled_from([Fraction(1), Fraction(33, 32), Fraction(9, 8), Fraction(3, 2), Fraction(3)]),
                "batch": st.integers(1, size),
                "rate": st.sampled_from([Fraction(1, 8), Fraction(1, 2), Fraction(7, 8)]),
                "others": st.tuples(*[values] * (size - 1)),
                "record": values,
                "other": values,
                "more": st.integers(1, 3),
            }
        )

    return st.integers(1, most).flatmap(of)


def _few() -> SearchStrategy[Case]:
    """Return fewer records, where sets of records with probabilities are gone through."""
    return _cases(6)


_WITNESS = {
    "factor": Fraction(2),
    "asked": Fraction(9, 8),
    "batch": 2,
    "rate": Fraction(1, 2),
    "others": (-1, -1, -1),
    "record": 1,
    "other": -1,
    "more": 1,
}

CLAIMS = (
    Claim(
        id="batches/fixed-sizes",
        statement="Balle, Barthe, Gaboardi 2018, Theorem 2, for one place of a batch",
        says="replacing one of n records has δ at most q·δ_K(log(1 + (e^ε − 1)/q)), q = B/n, K about two records",
        cases=_cases,
        examine=_examine_fixed,
    ),
    Claim(
        id="batches/fixed-reached",
        statement="docs/soundness_batches.md, Fixed batches",
        says="among equal records one release has exactly that δ",
        cases=_cases,
        examine=_examine_fixed_reached,
    ),
    Claim(
        id="batches/fixed-adaptive",
        statement="docs/soundness_batches.md, Symmetrised pairs; Zhu, Dong, Wang 2022, Theorem 10",
        says="the symmetrised pair composed bounds releases that may change the two data sets over at each step",
        cases=_few,
        examine=_examine_turning,
    ),
    Claim(
        id="batches/truncated-sizes",
        statement="docs/soundness_batches.md, Truncated Poisson batches",
        says="whether B of the others are drawn is public chance: below Poisson, else one place changes hands",
        cases=_few,
        examine=_examine_truncated,
    ),
    Claim(
        id="batches/truncated-at-most",
        statement="docs/soundness_batches.md, Truncated Poisson batches, up to N records",
        says="the pair for N bounds data sets of fewer records",
        cases=_few,
        examine=_examine_at_most,
    ),
    Claim(
        id="batches/fixed-not-poisson",
        statement="a wrong bound: the ε of Poisson sampling is quoted for batches of a fixed size",
        says="replacing one of n records has at most the δ of a Poisson sample at the rate B/n",
        cases=_cases,
        examine=_examine_not_poisson,
        expectation=Expectation.REJECTED,
        witness=_WITNESS,
    ),
    Claim(
        id="batches/fixed-orders-apart",
        statement="a wrong bound: the worst case of one step is composed in each order, and the maximum taken last",
        says="two releases have at most the larger δ of the worst data sets and of them changed over",
        cases=_few,
        examine=_examine_apart,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="batches/truncated-not-add-remove",
        statement="a wrong bound: what truncated batches cost under add/remove is quoted for replaced records",
        says="replacing one of n records has at most the δ of adding or removing one",
        cases=_few,
        examine=_examine_not_add_remove,
        expectation=Expectation.REJECTED,
        witness=_WITNESS,
    ),
    Claim(
        id="batches/truncated-not-poisson",
        statement="a wrong bound: the ε of an untruncated Poisson sample is quoted for truncated batches",
        says="removing one of n records has at most the δ of a Poisson sample at the same rate",
        cases=_few,
        examine=_examine_not_untruncated,
        expectation=Expectation.REJECTED,
        witness={**_WITNESS, "factor": Fraction(4), "asked": Fraction(5, 2)},
    ),
)
