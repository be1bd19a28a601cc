"""Claims about batches of shuffled data, against every order of small data sets.

Legend: records are whole numbers from −1 to 1; the sum of each batch of an epoch is released with geometric noise,
clamped to where sums may be. e^ε of one step is `factor`, e^ε at which δ is asked for is `asked`. Every way to cut the
records into batches is gone through with its exact probability: laws of an epoch's outputs are exact tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import prod
from typing import TYPE_CHECKING

from ...accounting.enclosures import Enclosure
from ...accounting.pairs import DiscreteLaplacePair, Pair
from ...accounting.relations import REPLACE, ZERO_OUT, Change, Direction
from ...accounting.sampling.epochs import ShuffledBatches
from ...plugins.contract import Case, Claim, Expectation, Finding
from .enclosed import enclosed_log
from .finite import Law, geometric_steps, hockey_stick, law, mixture

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def _outputs(case: Case, records: Sequence[int]) -> Law:
    """The law of the noisy sums of all batches of an epoch."""
    size = case["batch"]
    laws = geometric_steps(case["factor"], 2 * size)

    def sums(order: Sequence[int]) -> tuple[int, ...]:
        return tuple(sum(order[start : start + size]) for start in range(0, len(order), size))

    found = [sums(order) for order in permutations(records)]

    def together(batches: tuple[int, ...]) -> Law:
        return tuple(
            prod(chances, start=Fraction(1)) for chances in product(*(laws[size + total] for total in batches))
        )

    shares = law([found.count(batches) for batches in dict.fromkeys(found)])
    return mixture(zip(shares, map(together, dict.fromkeys(found)), strict=True))


def _base(case: Case) -> Pair:
    return DiscreteLaplacePair(enclosed_log(case["factor"]), Enclosure.of(1))


def _bounded(case: Case, quoted: Callable[[Change], Pair], relations: Sequence[Change]) -> Finding:
    holds, bounds, truths = True, [], []
    with_record = _outputs(case, (*case["others"], case["record"]))
    for relation in relations:
        other = _outputs(case, (*case["others"], case["other"] if relation == REPLACE else 0))
        for direction, laws in zip(Direction, ((with_record, other), (other, with_record)), strict=True):
            delta = quoted(relation).delta
            assert delta is not None
            bound, truth = delta(enclosed_log(case["asked"]), direction), hockey_stick(*laws, case["asked"])
            holds = holds and truth <= bound.upper
            bounds.append(f"{relation.name}, {direction.value}: {bound}")
            truths.append(f"{relation.name}, {direction.value}: {float(truth):.12g}")
    return Finding(holds=holds, closed_form="; ".join(bounds), independent="; ".join(truths))


def _scheme(case: Case) -> ShuffledBatches:
    return ShuffledBatches(batch_size=case["batch"], data_size=len(case["others"]) + 1)


def _examine(case: Case) -> Finding:
    def quoted(relation: Change) -> Pair:
        found = _scheme(case).pair(_base(case), relation)
        assert found is not None
        return found

    return _bounded(case, quoted, (ZERO_OUT, REPLACE))


def _examine_poisson(case: Case) -> Finding:
    """A wrong bound: a Poisson sample at the rate 1/T for each of T batches."""
    batches = _scheme(case).number_of_batches
    sampled = _base(case).sampled(Enclosure.of(Fraction(1, batches))).repeated(batches)
    return _bounded(case, lambda _: sampled, (ZERO_OUT,))


def _cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    values = st.integers(-1, 1)

    def of(shape: tuple[int, int]) -> SearchStrategy[Case]:
        batch, batches = shape
        return st.fixed_dictionaries(
            {
                "factor": st.sampled_from([Fraction(2), Fraction(4), Fraction(16)]),
                "asked": st.sampled_from([Fraction(1), Fraction(9, 8), Fraction(3, 2), Fraction(3), Fraction(8)]),
                "batch": st.just(batch),
                "others": st.tuples(*[values] * (batch * batches - 1)),
                "record": values,
                "other": values,
            }
        )

    return st.sampled_from([(1, 2), (2, 2), (3, 2), (1, 3), (2, 3)]).flatmap(of)


_WITNESS = {
    "factor": Fraction(16),
    "asked": Fraction(8),
    "batch": 1,
    "others": (-1, -1),
    "record": 1,
    "other": -1,
}

CLAIMS = (
    Claim(
        id="batches/shuffled-batches",
        statement="docs/soundness_shuffled_batches.md",
        says="an epoch of shuffled batches has at most the δ of one release about the record",
        cases=_cases,
        examine=_examine,
    ),
    Claim(
        id="batches/shuffled-batches-not-poisson",
        statement="a wrong bound: the ε of Poisson samples is quoted for batches of shuffled data (Chua et al. 2024)",
        says="an epoch of T shuffled batches has at most the δ of T Poisson samples at rate 1/T",
        cases=_cases,
        examine=_examine_poisson,
        expectation=Expectation.REJECTED,
        witness=_WITNESS,
    ),
)
