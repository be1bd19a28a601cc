"""Claims about random allocation, against every way to put the records of small data sets in batches.

Legend: records are whole numbers from −1 to 1; each enters k of T batches of an epoch (`participations`), of each of
which the sum is released with geometric noise, clamped to where sums may be. e^ε of one step is `factor`, e^ε at which
δ is asked for is `asked`. Laws of the outputs of whole epochs are exact tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from ...accounting.enclosures import Enclosure
from ...accounting.pairs import DiscreteLaplacePair, Pair
from ...accounting.relations import ADD_REMOVE, Direction
from ...accounting.sampling.epochs import Allocation
from ...plugins.contract import Case, Claim, Expectation, Finding
from .enclosed import enclosed_log
from .finite import Law, geometric_steps, hockey_stick, joint, mixture

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_Holds: TypeAlias = Callable[[Enclosure, Fraction, Direction], bool]
_NEAR = Fraction(1, 1000)


def _outputs(case: Case, records: Sequence[int]) -> Law:
    """The law of the noisy sums of all batches of an epoch."""
    batches, reach = case["batches"], len(case["others"]) + 1
    laws = geometric_steps(case["factor"], 2 * reach)
    sums = {(0,) * batches: Fraction(1)}
    for record in records:
        moved: dict[tuple[int, ...], Fraction] = {}
        ways = list(combinations(range(batches), case["participations"]))
        for (totals, share), entered in product(sums.items(), ways):
            there = tuple(total + record * (batch in entered) for batch, total in enumerate(totals))
            moved[there] = moved.get(there, Fraction(0)) + share / len(ways)
        sums = moved

    def together(totals: tuple[int, ...]) -> Law:
        chances = product(*(laws[reach + total] for total in totals))
        return tuple(prod(of_batches, start=Fraction(1)) for of_batches in chances)

    return mixture((share, together(totals)) for totals, share in sums.items())


def _epochs(case: Case, records: Sequence[int]) -> Law:
    """The law of the outputs of all epochs, each with batches of its own."""
    one = _outputs(case, records)
    return one if case["epochs"] == 1 else joint(one, [one] * len(one))


def _base(case: Case) -> Pair:
    return DiscreteLaplacePair(enclosed_log(case["factor"]), Enclosure.of(1))


def _allocated(case: Case) -> Pair:
    found = Allocation(case["batches"], case["participations"]).pair(_base(case), ADD_REMOVE)
    assert found is not None
    return found.repeated(case["epochs"])


def _apart(case: Case) -> Pair:
    """An allocation to one of all T batches for each participation, as if a record could enter one twice."""
    return _allocated({**case, "participations": 1}).repeated(case["participations"])


def _poisson(case: Case) -> Pair:
    """T Poisson samples at the rate 1/T in place of an epoch."""
    batches = case["batches"]
    return _base(case).sampled(Enclosure.of(Fraction(1, batches))).repeated(batches * case["epochs"])


def _in_each_direction(case: Case, quoted: Pair, holds: _Holds) -> Finding:
    with_record, without = (_epochs(case, records) for records in ((*case["others"], case["record"]), case["others"]))
    assert quoted.delta is not None
    right, bounds, truths = True, [], []
    for direction, laws in zip(Direction, ((with_record, without), (without, with_record)), strict=True):
        bound, truth = quoted.delta(enclosed_log(case["asked"]), direction), hockey_stick(*laws, case["asked"])
        right = right and holds(bound, truth, direction)
        bounds.append(f"{direction.value}: {bound}")
        truths.append(f"{direction.value}: {float(truth):.12g}")
    return Finding(holds=right, closed_form="; ".join(bounds), independent="; ".join(truths))


def _bounds(bound: Enclosure, truth: Fraction, _: Direction) -> bool:
    return truth <= bound.upper


def _examine(case: Case) -> Finding:
    return _in_each_direction(case, _allocated(case), _bounds)


def _examine_reached(case: Case) -> Finding:
    """A record without others has that δ: it lies between both ends, which are close where one is added.

    Of a removed record the upper end may be far off between the few ratios that so coarse noise has.
    """

    def reached(bound: Enclosure, truth: Fraction, direction: Direction) -> bool:
        return bound.contains(truth) and (direction is Direction.REMOVE or bound.width <= _NEAR)

    return _in_each_direction(
        {**case, "others": (), "record": 1, "epochs": 1}, _allocated({**case, "epochs": 1}), reached
    )


def _examine_poisson(case: Case) -> Finding:
    """A wrong bound: a Poisson sample at the rate 1/T for each of T batches."""
    return _in_each_direction(case, _poisson(case), _bounds)


def _examine_apart(case: Case) -> Finding:
    """A wrong bound: each participation is taken to be drawn among all batches, apart from the others."""
    return _in_each_direction(case, _apart(case), _bounds)


_ONE = (1, 1, 3, 1), (2, 1, 3, 1), (2, 1, 7, 1), (3, 1, 2, 1), (4, 1, 1, 1), (2, 1, 1, 2)
_SEVERAL = (
    (2, 2, 3, 1),
    (3, 2, 2, 1),
    (3, 3, 1, 1),
    (4, 2, 1, 1),
    (4, 3, 1, 1),
    (5, 2, 0, 1),
    (5, 3, 0, 1),
    (3, 2, 0, 2),
)
"""Numbers of batches, participations, other records and epochs."""


def _cases(*shapes: tuple[int, int, int, int]) -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    values = st.integers(-1, 1)

    def of(shape: tuple[int, int, int, int]) -> SearchStrategy[Case]:
        batches, participations, others, epochs = shape
        return st.fixed_dictionaries(
            {
                "factor": st.sampled_from([Fraction(2), Fraction(4), Fraction(16)]),
                "asked": st.sampled_from([Fraction(1), Fraction(9, 8), Fraction(3, 2), Fraction(3), Fraction(8)]),
                "batches": st.just(batches),
                "participations": st.just(participations),
                "others": st.tuples(*[values] * others),
                "record": values,
                "epochs": st.just(epochs),
            }
        )

    return st.sampled_from(shapes).flatmap(of)


_WITNESS = {
    "factor": Fraction(16),
    "asked": Fraction(1),
    "batches": 2,
    "participations": 1,
    "others": (0,),
    "record": 1,
    "epochs": 1,
}

CLAIMS = (
    Claim(
        id="batches/allocation",
        statement="docs/soundness_allocation.md; Feldman, Shenfeld 2025",
        says="epochs in which each record enters one of T batches have at most the δ of the pair, in each direction",
        cases=partial(_cases, *_ONE),
        examine=_examine,
    ),
    Claim(
        id="batches/allocation-reached",
        statement="docs/soundness_allocation.md; Feldman, Shenfeld 2025",
        says="a record without others has the δ of the pair, whose ends for an added one are at most 10^-3 apart",
        cases=partial(_cases, *_ONE),
        examine=_examine_reached,
    ),
    Claim(
        id="batches/allocation-not-poisson",
        statement="a wrong bound: the ε of Poisson samples is quoted for random allocation",
        says="an epoch of T batches has at most the δ of T Poisson samples at rate 1/T",
        cases=partial(_cases, *_ONE),
        examine=_examine_poisson,
        expectation=Expectation.REJECTED,
        witness=_WITNESS,
    ),
    Claim(
        id="batches/participations",
        statement="docs/soundness_allocation.md; Feldman, Shenfeld 2025",
        says="epochs in which each record enters k of T batches have at most the δ of k blocks, in each direction",
        cases=partial(_cases, *_SEVERAL),
        examine=_examine,
    ),
    Claim(
        id="batches/participations-not-apart",
        statement="a wrong bound: each of k participations is quoted as one of all T batches",
        says="an epoch in which each record enters k of T batches has at most the δ of k epochs in which it enters one",
        cases=partial(_cases, *_SEVERAL),
        examine=_examine_apart,
        expectation=Expectation.REJECTED,
        witness={**_WITNESS, "participations": 2},
    ),
)
