"""Claims about public strata, against every sample of small data sets.

Legend: records are whole numbers from −1 to 1 with a public label each, drawn with the rate of their label and, where
weighted, entering with its inverse W; sums are released with geometric noise, clamped to where they may be. e^ε of one
step is `factor`, e^ε at which δ is asked for is `asked`. Laws of outputs are exact tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

from ...accounting.enclosures import Enclosure
from ...accounting.pairs import DiscreteLaplacePair, Pair, changed
from ...accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT, Direction, Relation
from ...plugins.contract import Case, Claim, Expectation, Finding
from .enclosed import enclosed_log
from .finite import Law, geometric_steps, hockey_stick, joint, mixture, subsets

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_RELATIONS = (ADD_REMOVE, REPLACE, ZERO_OUT)


def _weight(case: Case, label: int) -> int:
    return int(1 / case["rates"][label]) if case["weighted"] else 1


def _outputs(case: Case, records: Sequence[tuple[int, int]]) -> Law:
    """The law of one release from records, of which each is a value and its label."""
    reach = sum(_weight(case, label) for _, label in case["others"]) + max(_weight(case, k) for k in range(_LABELS))
    laws = geometric_steps(case["factor"], 2 * reach)

    def parts() -> Iterable[tuple[Fraction, Law]]:
        for drawn in subsets(range(len(records))):
            rates = [case["rates"][label] for _, label in records]
            chances = [rate if i in drawn else 1 - rate for i, rate in enumerate(rates)]
            total = sum(records[i][0] * _weight(case, records[i][1]) for i in drawn)
            yield prod(chances, start=Fraction(1)), laws[reach + total]

    return mixture(parts())


def _neighbours(case: Case, relation: Relation) -> tuple[Law, Law]:
    """The laws of both data sets: the record is the last one, and stays in its stratum."""
    others, record, label = case["others"], case["record"], case["label"]
    first = _outputs(case, (*others, (record, label)))
    if relation == ADD_REMOVE:
        return first, _outputs(case, others)
    return first, _outputs(case, (*others, (case["other"] if relation == REPLACE else 0, label)))


def _pair(case: Case, label: int, relation: Relation) -> Pair:
    """What is stated of the records of one stratum."""
    base = DiscreteLaplacePair(enclosed_log(case["factor"]), Enclosure.of(_weight(case, label)))
    found = changed(base, Enclosure.of(case["rates"][label]), replaced=relation == REPLACE)
    assert found is not None
    return found


def _delta(pair: Pair, case: Case, direction: Direction) -> Enclosure:
    law = pair.delta
    assert law is not None
    return law(enclosed_log(case["asked"]), direction)


def _bounded(case: Case, quoted: Callable[[Relation], Sequence[Pair]], steps: int = 1) -> Finding:
    """Whether the largest δ of some pairs, composed, bounds that of the outputs, in each direction."""
    holds, bounds, truths = True, [], []
    for relation in _RELATIONS:
        laws = [_repeated(law, steps) for law in _neighbours(case, relation)]
        for direction, (first, second) in zip(Direction, (laws, laws[::-1]), strict=True):
            bound = max(_delta(pair.repeated(steps), case, direction).upper for pair in quoted(relation))
            truth = hockey_stick(first, second, case["asked"])
            holds = holds and truth <= bound
            bounds.append(f"{relation.name}, {direction.value}: {float(bound):.12g}")
            truths.append(f"{relation.name}, {direction.value}: {float(truth):.12g}")
    return Finding(holds=holds, closed_form="; ".join(bounds), independent="; ".join(truths))


def _repeated(law: Law, steps: int) -> Law:
    return law if steps == 1 else joint(law, [law] * len(law))


def _examine(case: Case) -> Finding:
    return _bounded(case, lambda relation: [_pair(case, label, relation) for label in range(_LABELS)])


def _examine_own(case: Case) -> Finding:
    return _bounded(case, lambda relation: [_pair(case, case["label"], relation)])


def _examine_composed(case: Case) -> Finding:
    return _bounded(case, lambda relation: [_pair(case, label, relation) for label in range(_LABELS)], steps=2)


def _examine_mean_rate(case: Case) -> Finding:
    """A wrong bound: one Poisson sample at the mean rate of all records."""
    labels = [label for _, label in case["others"]] + [case["label"]]
    mean = sum((case["rates"][label] for label in labels), Fraction(0)) / len(labels)
    base = DiscreteLaplacePair(enclosed_log(case["factor"]), Enclosure.of(1))

    def quoted(relation: Relation) -> list[Pair]:
        found = changed(base, Enclosure.of(mean), replaced=relation == REPLACE)
        assert found is not None
        return [found]

    return _bounded({**case, "weighted": False}, quoted)


def _examine_largest_rate(case: Case) -> Finding:
    """A wrong bound: of weighted strata, the one with the largest rate is taken for the worst."""
    weighted = {**case, "weighted": True}
    largest = max(range(_LABELS), key=lambda label: case["rates"][label])
    return _bounded(weighted, lambda relation: [_pair(weighted, largest, relation)])


_LABELS = 3


def _cases(most: int = 4) -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    values, labels = st.integers(-1, 1), st.integers(0, _LABELS - 1)
    return st.fixed_dictionaries(
        {
            "factor": st.sampled_from([Fraction(3, 2), Fraction(2), Fraction(4)]),
            "asked": st.sampled_from([Fraction(1), Fraction(33, 32), Fraction(9, 8), Fraction(3, 2), Fraction(3)]),
            "rates": st.tuples(*[st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 4)])] * _LABELS),
            "weighted": st.booleans(),
            "others": st.lists(st.tuples(values, labels), max_size=most).map(tuple),
            "record": values,
            "label": labels,
            "other": values,
        }
    )


def _few() -> SearchStrategy[Case]:
    """Fewer records, where outputs of two releases are gone through."""
    return _cases(2)


def _far() -> SearchStrategy[Case]:
    """Cases that ask beyond what one record of weight 1 may lose."""
    from hypothesis import strategies as st

    beyond = {"factor": Fraction(2), "asked": Fraction(9, 4)}
    rates = st.permutations([Fraction(1), Fraction(1, 2), Fraction(1, 4)]).map(tuple)
    return st.builds(lambda case, rates: {**case, **beyond, "rates": rates}, _cases(2), rates)


_WITNESS = {
    "factor": Fraction(2),
    "asked": Fraction(9, 8),
    "rates": (Fraction(1), Fraction(1, 4), Fraction(1, 4)),
    "weighted": False,
    "others": ((1, 1), (-1, 2)),
    "record": 1,
    "label": 0,
    "other": -1,
}

CLAIMS = (
    Claim(
        id="batches/strata",
        statement="docs/soundness_strata.md",
        says="a record of any public stratum has at most the largest δ of the pairs of all strata",
        cases=_cases,
        examine=_examine,
    ),
    Claim(
        id="batches/strata-own",
        statement="docs/soundness_strata.md; IS Proposition 3 for one stratum",
        says="a record has at most the δ of the pair of its own stratum, whatever the rates of the others",
        cases=_cases,
        examine=_examine_own,
    ),
    Claim(
        id="batches/strata-composed",
        statement="docs/soundness_strata.md",
        says="of two releases the strata are composed apart, and the maximum is taken last",
        cases=_few,
        examine=_examine_composed,
    ),
    Claim(
        id="batches/strata-mean-rate",
        statement="a wrong bound: the ε of Poisson sampling at the mean rate is quoted for all strata",
        says="a record of any stratum has at most the δ of a Poisson sample at the mean rate",
        cases=_cases,
        examine=_examine_mean_rate,
        expectation=Expectation.REJECTED,
        witness=_WITNESS,
    ),
    Claim(
        id="batches/strata-largest-rate",
        statement="a wrong bound: of weighted strata, the one with the largest rate is taken for the worst",
        says="a record of any weighted stratum has at most the δ of the stratum with the largest rate",
        cases=_far,
        examine=_examine_largest_rate,
        expectation=Expectation.REJECTED,
        witness={**_WITNESS, "asked": Fraction(3), "label": 1},
    ),
)
