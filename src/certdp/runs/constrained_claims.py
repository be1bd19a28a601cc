"""Claims of runs whose weights are solved for a target at a δ or at a Rényi order: the whole run, solved anew.

Legend: a record of norm u enters a Gaussian sum of standard deviation 1 with weight w, and a sample with probability
1/w. A run has `steps` releases, on one sample or each on a fresh one.

The library's side are the weight and the probability that a run draws with. The other side is the law of its outputs,
integrated or convolved, which knows neither Rényi bounds of a δ nor the search for the weight. On one sample and at an
order the weight is the largest; a δ of several samples is bounded through the best Rényi order, which costs weight.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..accounting.provenance import Public
from ..accounting.sampling.records import Features
from ..accounting.sampling.releases import Releases, ResampleEach, SampleOnce
from ..mechanisms.gaussian_sum import GaussianSum
from ..plugins.contract import Case, Claim, Expectation, Finding
from ..samplers.privacy_constrained import PrivacyConstrained
from ..verification.oracles.renyi import AGREEMENT, NOISE
from ..verification.oracles.runs import delta_of_run, renyi_of_run
from .sampled import SampledRun

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_DIGITS = 20
_NEXT = 1 + Fraction(1, 2**17)
"""How much larger a weight may be that exceeds the target, where the bound is exact; norms are rounded to 20 digits."""
_HALF_AGAIN = (Fraction(3, 2), Fraction(5, 4))
"""And where it is not."""
_UNBOUNDED = 2.0**1000
"""Weights from here on are limited by the range of the numbers, not by the target."""


class _Drawn(NamedTuple):
    """What the run applies, as it is drawn."""

    weight: Fraction
    probability: Fraction


_Solved: TypeAlias = Callable[[Case], _Drawn]
_Loss: TypeAlias = Callable[[Case, Fraction, Fraction], Fraction]
"""What the run of a case loses for a weight and a probability, or a little less."""


def _plan(case: Case) -> Releases:
    return ResampleEach(case["steps"]) if case["fresh"] else SampleOnce(case["steps"])


def _solved_for(plan: Releases, case: Case) -> _Drawn:
    """The weight of the case's record, solved for this plan."""
    notion: dict[str, Any] = {name: Public(case[name]) for name in ("delta", "order") if name in case}
    sampler = PrivacyConstrained(target=Public(case["target"]), digits=Public(_DIGITS), **notion)
    run = SampledRun(mechanism=GaussianSum(scale=Public(1)), sampler=sampler, releases=plan)
    drawn = run.drawing.on(None).realise(Features(np.array([[float(case["norm"])]])))
    return _Drawn(Fraction(float(drawn.weight[0])), Fraction(float(drawn.probability[0])))


def _solved(case: Case) -> _Drawn:
    return _solved_for(_plan(case), case)


def _solved_for_one(case: Case) -> _Drawn:
    """A wrong form: every release by itself is within the target of the run."""
    return _solved_for(ResampleEach(1), case)


def _solved_for_the_other_plan(case: Case) -> _Drawn:
    """A wrong form: releases on one sample are taken for releases on fresh ones, and the other way round."""
    return _solved({**case, "fresh": not case["fresh"]})


def _of_the_run(case: Case, weight: Fraction) -> tuple[Fraction, int, int]:
    """How far the record moves a release, how many samples there are, and how many releases on each."""
    samples, together = (case["steps"], 1) if case["fresh"] else (1, case["steps"])
    return Fraction(float(case["norm"])) * weight, samples, together


def _delta(case: Case, weight: Fraction, probability: Fraction) -> Fraction:
    return delta_of_run(probability, *_of_the_run(case, weight), case["target"])


def _tau(case: Case, weight: Fraction, probability: Fraction) -> Fraction:
    steps: int = case["steps"]
    found = renyi_of_run(probability, *_of_the_run(case, weight), case["order"])
    return found - (found * AGREEMENT + steps * NOISE)


def _examine(case: Case, solved: _Solved, loss: _Loss, limit: Fraction) -> Finding:
    """The weight drawn is within the target, so is one below it, and one that is larger is not."""
    drawn = solved(case)
    below = 1 + (drawn.weight - 1) * case["place"]
    lost, lost_below = loss(case, *drawn), loss(case, below, 1 / below)
    exact = "order" in case or not case["fresh"] or case["steps"] == 1
    larger = (drawn.weight * factor for factor in ((_NEXT,) if exact else _HALF_AGAIN))
    largest = drawn.weight >= _UNBOUNDED or any(loss(case, weight, 1 / weight) > limit for weight in larger)
    return Finding(
        holds=max(lost, lost_below) <= limit and largest,
        closed_form=f"w = {float(drawn.weight):.12g}, drawn with probability {float(drawn.probability):.12g}",
        independent=f"target {float(limit):.9g}; with that weight the run loses {float(lost):.9g}, with w = "
        f"{float(below):.9g} {float(lost_below):.9g}; a larger one is {'refuted' if largest else 'within it, too'}",
    )


def _examine_delta(case: Case, solved: _Solved = _solved) -> Finding:
    return _examine(case, solved, _delta, case["delta"])


def _examine_order(case: Case, solved: _Solved = _solved) -> Finding:
    return _examine(case, solved, _tau, case["target"])


# Cases: of norms so small, for their number of releases, that weight 1 is within the target


def _runs(**notion: Any) -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def case(drawn: dict[str, Any]) -> Case:
        return {**drawn, "norm": drawn["norm"] / drawn["steps"]}

    return st.fixed_dictionaries(
        {
            "steps": st.integers(1, 6),
            "fresh": st.booleans(),
            "norm": st.fractions(Fraction(1, 32), Fraction(1, 8), max_denominator=256),
            "place": st.fractions(0, 1, max_denominator=64),
            **notion,
        }
    ).map(case)


def _delta_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return _runs(
        target=st.fractions(1, 3, max_denominator=8),
        delta=st.integers(4, 7).map(lambda power: Fraction(1, 10**power)),
    )


def _order_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    orders = st.integers(2, 8).map(Fraction) | st.sampled_from([Fraction(3, 2), Fraction(11, 4)])
    return _runs(target=st.fractions(Fraction(1, 8), 2, max_denominator=16), order=orders)


_DELTA_RUN: Case = {
    "steps": 4,
    "fresh": True,
    "norm": Fraction(1, 16),
    "place": Fraction(1),
    "target": Fraction(1),
    "delta": Fraction(1, 10**5),
}
_ORDER_RUN: Case = {
    "steps": 4,
    "fresh": True,
    "norm": Fraction(1, 16),
    "place": Fraction(1),
    "target": Fraction(1, 2),
    "order": Fraction(4),
}

CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="constrained/delta",
        statement="IS Problem 7, for runs of Gaussian sums at a δ",
        says="the whole run is (ε, δ)-private with the weight drawn and with smaller ones; on one sample none is "
        "larger, on fresh samples none by half",
        cases=_delta_cases,
        examine=_examine_delta,
    ),
    Claim(
        id="constrained/order",
        statement="IS Problem 7, for runs of Gaussian sums at a Rényi order",
        says="the whole run is (α, τ)-private with the weight drawn and with smaller ones, and none is larger",
        cases=_order_cases,
        examine=_examine_order,
    ),
    Claim(
        id="constrained/delta-of-each-release",
        statement="IS Problem 7, for runs of Gaussian sums at a δ",
        says="a wrong form: the weight with which each release by itself is (ε, δ)-private",
        cases=_delta_cases,
        examine=lambda case: _examine_delta(case, _solved_for_one),
        expectation=Expectation.REJECTED,
        witness=_DELTA_RUN,
    ),
    Claim(
        id="constrained/order-of-each-release",
        statement="IS Problem 7, for runs of Gaussian sums at a Rényi order",
        says="a wrong form: the weight with which each release by itself is (α, τ)-private",
        cases=_order_cases,
        examine=lambda case: _examine_order(case, _solved_for_one),
        expectation=Expectation.REJECTED,
        witness=_ORDER_RUN,
    ),
    Claim(
        id="constrained/delta-of-the-other-plan",
        statement="IS Problem 7, for runs of Gaussian sums at a δ",
        says="a wrong form: releases on one sample solved as if each were on a fresh one",
        cases=_delta_cases,
        examine=lambda case: _examine_delta(case, _solved_for_the_other_plan),
        expectation=Expectation.REJECTED,
        witness={**_DELTA_RUN, "fresh": False},
    ),
    Claim(
        id="constrained/order-of-the-other-plan",
        statement="IS Problem 7, for runs of Gaussian sums at a Rényi order",
        says="a wrong form: releases on one sample solved as if each were on a fresh one",
        cases=_order_cases,
        examine=lambda case: _examine_order(case, _solved_for_the_other_plan),
        expectation=Expectation.REJECTED,
        witness={**_ORDER_RUN, "fresh": False},
    ),
)
