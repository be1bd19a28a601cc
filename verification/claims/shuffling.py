"""Claims of shuffled answers: each against the law of all counts, summed user by user as exact rationals.

Legend: of k categories a user answers the own one with the chance 1 − γ + γ/k, each other one with γ/k; factor is the
ratio of the two, e^ε₀. The first user holds category 0 or 1, the others hold what a case says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from ...accounting.enclosures import Enclosure
from ...accounting.pairs import ShuffledPair
from ...accounting.relations import Direction
from ...plugins.contract import Case, Claim, Expectation, Finding
from .enclosed import enclosed, enclosed_log
from .finite import Law, hockey_stick

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Counts: TypeAlias = tuple[int, ...]
Clones: TypeAlias = Callable[[Fraction, int, int], tuple[int, Fraction]]
"""The number of users and the chance of a clone that a form works with, from factor, categories and users."""


def _answer(factor: Fraction, categories: int, own: int) -> Law:
    lie = 1 / (factor + categories - 1)
    return tuple(factor * lie if category == own else lie for category in range(categories))


def _counted(answers: Sequence[Law]) -> dict[Counts, Fraction]:
    """The law of how many users give each answer."""
    law = {(0,) * len(answers[0]): Fraction(1)}
    for answer in answers:
        grown: dict[Counts, Fraction] = defaultdict(Fraction)
        for counts, mass in law.items():
            for category, chance in enumerate(answer):
                grown[*counts[:category], counts[category] + 1, *counts[category + 1 :]] += mass * chance
        law = dict(grown)
    return law


def shuffled(factor: Fraction, categories: int, others: Sequence[int], asked: Fraction) -> Fraction:
    """δ at e^ε = asked of the counts of all answers, where the first user's category is 0 or 1."""
    rest = [_answer(factor, categories, own) for own in others]
    here, there = (_counted([_answer(factor, categories, own), *rest]) for own in (0, 1))
    first, second = (tuple(law[counts] for counts in here) for law in (here, there))
    return max(hockey_stick(first, second, asked), hockey_stick(second, first, asked))


def _variation_ratio(factor: Fraction, categories: int, others: int, asked: Fraction) -> Fraction:
    """A wrong form: the counts of categories 0 and 1, each of which another user answers with the least chance."""
    lie = 1 / (factor + categories - 1)
    rest = [(lie, lie, 1 - 2 * lie)] * others
    own = factor * lie, lie, 1 - (factor + 1) * lie
    here, there = (_counted([first, *rest]) for first in (own, (own[1], own[0], own[2])))
    told = {**here, **there}
    first, second = (tuple(law.get(counts, Fraction(0)) for counts in told) for law in (here, there))
    return hockey_stick(first, second, asked)


def _of_responses(factor: Fraction, categories: int, users: int) -> tuple[int, Fraction]:
    """As the mechanism states it: an answer at random among both, of randomised response itself."""
    return users, 2 / (factor + 1)


def _of_any(factor: Fraction, categories: int, users: int) -> tuple[int, Fraction]:
    """As of every ε₀-DP randomiser."""
    return users, 1 / factor


def _everyone(factor: Fraction, categories: int, users: int) -> tuple[int, Fraction]:
    """A wrong form: every other answer counts as a clone, whatever its user holds."""
    return users, Fraction(1)


def _with_the_own(factor: Fraction, categories: int, users: int) -> tuple[int, Fraction]:
    """A wrong form: the user whose value differs is counted among those who may be clones."""
    return users + 1, 2 / (factor + 1)


def _bound(case: Case, clones: Clones) -> Enclosure:
    users, chance = clones(case["factor"], case["categories"], 1 + len(case["others"]))
    pair = ShuffledPair(enclosed_log(case["factor"]), users, enclosed(chance))
    return pair.delta(enclosed_log(case["asked"]), Direction.REMOVE)


def _others(case: Case) -> list[int]:
    return [own % case["categories"] for own in case["others"]]


def _examine(case: Case, clones: Clones) -> Finding:
    """Whether the bound covers the counts of all answers, whatever the others hold."""
    found = _bound(case, clones)
    direct = shuffled(case["factor"], case["categories"], _others(case), case["asked"])
    return Finding(direct <= found.upper, str(found), repr(float(direct)))


def _examine_variation_ratio(case: Case) -> Finding:
    found = _variation_ratio(case["factor"], case["categories"], len(case["others"]), case["asked"])
    direct = shuffled(case["factor"], case["categories"], _others(case), case["asked"])
    return Finding(direct <= found, repr(float(found)), repr(float(direct)))


def _cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "factor": st.fractions(Fraction(11, 10), 20, max_denominator=20),
            "categories": st.integers(2, 4),
            "others": st.lists(st.integers(0, 3), max_size=6),
            "asked": st.fractions(1, 20, max_denominator=20),
        }
    )


_SOURCE = "Feldman, McMillan, Talwar 2021, Theorem 3.2"

CLAIMS = (
    Claim(
        id="batches/shuffled-responses",
        statement=_SOURCE,
        says="shuffled randomised responses leak at most what the truth among clones of rate 2/(e^ε₀ + 1) does",
        cases=_cases,
        examine=lambda case: _examine(case, _of_responses),
    ),
    Claim(
        id="batches/shuffled-answers",
        statement=_SOURCE,
        says="shuffled answers leak at most what the truth among clones of rate e^−ε₀ does",
        cases=_cases,
        examine=lambda case: _examine(case, _of_any),
    ),
    Claim(
        id="batches/shuffled-all-clones",
        statement=_SOURCE,
        says="every other answer counts as a clone, whatever its user holds",
        cases=_cases,
        examine=lambda case: _examine(case, _everyone),
        expectation=Expectation.REJECTED,
        witness={"factor": Fraction(3), "categories": 2, "others": [1], "asked": Fraction(1)},
    ),
    Claim(
        id="batches/shuffled-with-the-own",
        statement=_SOURCE,
        says="the user whose value differs counts among the clones",
        cases=_cases,
        examine=lambda case: _examine(case, _with_the_own),
        expectation=Expectation.REJECTED,
        witness={"factor": Fraction(3), "categories": 2, "others": [1], "asked": Fraction(1)},
    ),
    Claim(
        id="batches/shuffled-variation-ratio",
        statement="Wang, Peng, Li, et al. 2024 (arXiv:2304.05007), the variation-ratio reduction",
        says="of shuffled randomised responses two categories count, to either of which another user adds seldom",
        cases=_cases,
        examine=_examine_variation_ratio,
        expectation=Expectation.REJECTED,
        witness={"factor": Fraction(2), "categories": 3, "others": [0], "asked": Fraction(17, 10)},
    ),
)
