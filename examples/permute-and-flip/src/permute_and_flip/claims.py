"""What the loss of permute-and-flip rests on, against the exact law of the algorithm as it is run.

With b = e^−1/β every probability is a rational function of b, so cases take a rational b in (0, 1) and all is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING

from certdp.plugins.contract import Case, Claim, Expectation, Finding

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_COLUMNS = 4
_SCORE, _VOTE = 5, 3


def law(scores: Sequence[int], base: Fraction) -> list[Fraction]:
    """With what probability each column is told: the sum over every order in which columns are looked at."""
    best = max(scores)
    accepted = [base ** (best - score) for score in scores]
    told = [Fraction(0)] * len(scores)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        reached = Fraction(1, len(orders))
        for column in order:
            told[column] += reached * accepted[column]
            reached *= 1 - accepted[column]
    return told


def _cases(least: int) -> SearchStrategy[Case]:
    from hypothesis import strategies  # here, so that listing claims loads no hypothesis

    def with_columns(count: int) -> SearchStrategy[Case]:
        return strategies.fixed_dictionaries(
            {
                "scores": strategies.lists(strategies.integers(0, _SCORE), min_size=count, max_size=count),
                "votes": strategies.lists(strategies.integers(least, _VOTE), min_size=count, max_size=count),
                "base": strategies.integers(1, 99).map(lambda percent: Fraction(percent, 100)),
            }
        )

    return strategies.integers(1, _COLUMNS).flatmap(with_columns)


def votes_of_one_sign() -> SearchStrategy[Case]:
    """A record that gives no column less than 0."""
    return _cases(0)


def votes_of_both_signs() -> SearchStrategy[Case]:
    """A record as `release` never sees one."""
    return _cases(-_VOTE)


def within_the_profile(case: Case) -> Finding:
    """Whether no output changes its probability by more than e^ε, ε = ‖x‖_∞/β."""
    scores, votes, base = case["scores"], case["votes"], case["base"]
    bound = base ** -max(map(abs, votes))
    without, added = law(scores, base), law([score + vote for score, vote in zip(scores, votes, strict=True)], base)
    ratios = [max(p / q, q / p) for p, q in zip(without, added, strict=True)]
    return Finding(
        holds=max(ratios) <= bound,
        closed_form=f"e^ε = {bound}",
        independent=f"largest ratio of two probabilities {max(ratios)}",
    )


CLAIMS = (
    Claim(
        id="permute-and-flip/profile",
        statement="McKenna, Sheldon 2020, for scores that a record only raises",
        says="ε(W, x) = W·‖x‖_∞/β where every vote is at least 0",
        cases=votes_of_one_sign,
        examine=within_the_profile,
    ),
    Claim(
        id="permute-and-flip/profile-of-signed-votes",
        statement="The same without cutting votes at 0",
        says="ε(W, x) = W·‖x‖_∞/β for votes of any sign",
        cases=votes_of_both_signs,
        examine=within_the_profile,
        expectation=Expectation.REJECTED,
        witness={"scores": [0, 0], "votes": [1, -1], "base": Fraction(1, 2)},
    ),
)
