"""Writing certificates of runs in other notions than (ε, δ): τ at an order, ρ, μ, and rates of attackers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import TypeAlias, final

from attrs import frozen

from ...accounting.enclosures import Enclosure
from ...accounting.errors import InvalidValue
from ...accounting.exact import ratio_text
from ...accounting.notions import Bound, GaussianDP, Renyi, ZeroConcentrated
from ..checker import check
from .approach import Approach, Trial, Unproven, excess_of, least, proven_instead
from .approximate import OF_GROUPS, SPARES, Certified, RunStatement, Stated, bodies_of, orders_near, searched
from .writing import Json, sealed

_MOST_CHECKS = 24
_ROUNDED = Fraction(1, 2**50)
_RATES = "Dong, Roth, Su 2022, Proposition 2.12"

_Numbers: TypeAlias = Mapping[str, Fraction]


@final
@frozen(kw_only=True)
class Rate:
    """A rate of attackers that is to be certified, and the (ε, δ) from which it follows.

    Attributes:
        rate: its name, as certificates have it.
        at: the false-positive rate or the prior; None of an advantage.
        epsilon: where δ is asked for.
        delta: the proven upper end there.
        follows: the rate, from a δ at that ε.
        at_least: whether attackers are held off by a bound from below, as of the Bayes risk.
    """

    rate: str
    at: Fraction | None
    epsilon: Fraction
    delta: float
    follows: Callable[[Fraction], Fraction]
    at_least: bool = False

    def as_json(self, delta: Fraction) -> Json:
        """Return the rate as the certificate holds it, with the δ that was proven."""
        return {
            "rate": self.rate,
            "at": None if self.at is None else ratio_text(self.at),
            "bound": ratio_text(self.follows(delta)),
            "epsilon": ratio_text(self.epsilon),
            "delta": ratio_text(delta),
        }


def certified_bound(run: RunStatement, bound: Bound) -> Certified:
    """A certificate of a bound in Rényi, zero-concentrated or Gaussian DP, as near to it as the checker proves.

    Args:
        run: what is released; where it speaks of groups, the bound of one record is turned into theirs.
        bound: the answer for one record.

    Raises:
        InvalidValue: for a loss that no certificate states, and where the checker does not prove anything near.
    """
    kind, theorem, notion, answer, named = _parts(bound, run.group)
    if run.group > 1:
        theorem += OF_GROUPS

    understood: set[int] = set()  # ways to state the losses: raised otherwise they prove no less

    def attempt(way: int, body: Json, number: float) -> Certified | Unproven:
        asked = Fraction(number)
        numbers = named(asked)
        claim = {name: ratio_text(value) for name, value in numbers.items()}
        stated = {**body, "kind": kind, "theorem": theorem, "method": None}
        content = sealed({**stated, "claim": {**body["claim"], "notion": notion, **claim}})
        verdict = check(content)
        if verdict.accepted:
            return Certified(content, numbers, theorem)
        if verdict.proven is None:
            return Unproven(verdict.reason, None)
        understood.add(way)
        return Unproven(verdict.reason, excess_of(verdict.proven, asked))

    near = {bound.order} if isinstance(bound, Renyi) else set[Fraction]()
    stated = (enumerate(bodies) for bodies in bodies_of(run, 0.0, sorted(SPARES), near=near))
    trials = (
        Trial(Approach(answer, proven_instead, _MOST_CHECKS), partial(attempt, way, body))
        for ways in stated
        for way, (body, _) in ways
        if way not in understood
    )
    found = least(trials, answer)
    if isinstance(found, Certified):
        return found
    raise InvalidValue(
        "certificate",
        f"a run whose bound in {bound.notion.name} DP the checker does not prove",
        "losses of which it knows that notion",
        f"It says: {found.reason or 'there is none for these losses'}. Leave the certificate out",
    )


def _parts(bound: Bound, group: int) -> tuple[str, str, str, float, Callable[[Fraction], _Numbers]]:
    """The kind, its theorem and notion, the number that may be raised, and from it all of the claim.

    Raises:
        InvalidValue: for a bound that no certificate of this module states.
    """
    match bound:
        case Renyi(order, tau):
            doublings = (group - 1).bit_length()
            at = order / 2**doublings
            return (
                "composed-renyi",
                "Mironov 2017, Proposition 1",
                "renyi",
                tau.upper_float,
                lambda value: {"order": at, "tau": value * 3**doublings},
            )
        case ZeroConcentrated(rho):
            return (
                "composed-zero-concentrated",
                "Bun, Steinke 2016, Lemma 2.3",
                "zero-concentrated",
                rho.upper_float,
                lambda value: {"rho": value * group**2},
            )
        case GaussianDP(mu):
            return (
                "composed-gaussian",
                "Dong, Roth, Su 2022, Corollary 3.3",
                "Gaussian",
                mu.upper_float,
                lambda value: {"mu": value * group},
            )
    raise InvalidValue("answer", bound, "a bound in Rényi, zero-concentrated or Gaussian DP, or as (ε, δ)")


def certified_rates(run: RunStatement, rates: Sequence[Rate]) -> Certified:
    """A certificate of rates of attackers, each from its own (ε, δ) that some method proves.

    Args:
        run: what is released, with public constants alone.
        rates: at least one.

    Raises:
        InvalidValue: for a run about groups, for a loss that no certificate states, and where the checker does not
            prove an (ε, δ).
    """
    if run.group > 1:
        remedy = "There is no kind of certificate yet for rates of others: certify an ε at a δ instead"
        raise InvalidValue("certificate", "groups", "one record", remedy)
    order = sorted(range(len(rates)), key=lambda place: rates[place].delta)
    smallest = rates[order[0]].delta
    reason = ""
    near = set[Fraction]().union(*(orders_near(run, rate.epsilon, None) for rate in rates))
    for bodies in bodies_of(run, math.log(smallest) if smallest > 0 else math.log(5e-324), near=near):
        found = _each(run, bodies, [rates[place] for place in order])
        if isinstance(found, Unproven):
            reason = found.reason
            if found.excess is not None:
                break
            continue
        body, proven = found
        methods = [proven[order.index(place)] for place in range(len(rates))]
        stated = [rate.as_json(delta) for rate, (_, _, delta) in zip(rates, methods, strict=True)]
        theorem = "; ".join([_RATES, *dict.fromkeys(theorem for theorem, _, _ in methods)])
        content = sealed(
            {
                **body,
                "kind": "composed-risk",
                "claim": {**body["claim"], "notion": "trade-off", "rates": stated},
                "theorem": theorem,
                "method": [method for _, method, _ in methods],
            }
        )
        verdict = check(content)
        if verdict.accepted:
            names = " and ".join(dict.fromkeys(method["name"] for _, method, _ in methods))
            return Certified(content, _named(stated), names)
        reason = verdict.reason
    raise InvalidValue(
        "certificate",
        "a run whose rates the checker does not prove",
        "one whose (ε, δ) it proves by pure losses, one release, Rényi divergences or the loss distribution",
        f"It says: {reason or 'there is none for these losses'}. Leave the certificate out",
    )


def _named(rates: Sequence[Json]) -> _Numbers:
    """The bounds by name; of a rate that is stated at several places, with the place."""
    names = [rate["rate"] for rate in rates]
    told = [
        name if names.count(name) == 1 else f"{name} at {rate['at']}" for name, rate in zip(names, rates, strict=True)
    ]
    return {name: Fraction(rate["bound"]) for name, rate in zip(told, rates, strict=True)}


_Method: TypeAlias = tuple[str, Json, Fraction]
"""The theorem, the method and the δ that it proves."""


def _each(run: RunStatement, bodies: Sequence[Stated], rates: Sequence[Rate]) -> tuple[Json, list[_Method]] | Unproven:
    """The body by whose parts all are proven, and how; or why some rate is not."""
    proven: list[_Method] = []
    body: Json = {}
    for rate in rates:
        if rate.delta >= 1:
            return Unproven("a δ of 1 says nothing", None)
        found = searched(run, bodies, rate.epsilon, None, rate.delta, share=1 / len(rates))
        if isinstance(found, Unproven):
            return found
        written = json.loads(found.content)
        if not body:
            chosen = next(pair for pair in bodies if pair[0]["parts"] == written["parts"])
            bodies, body = [chosen], chosen[0]
        proven.append((written["theorem"], written["method"], found.delta))
    return body, proven


def advantage_rate(epsilon: Fraction, delta: Enclosure) -> Rate:
    """The membership advantage, from an (ε, δ): δ(0), or a little more than tanh(ε/2) where ε > 0."""
    growth = Enclosure.of(epsilon).exp()

    def follows(found: Fraction) -> Fraction:
        if not epsilon:
            return found
        most = (1 - 2 * (1 - found) / (growth + 1)).upper
        return min(Fraction(Enclosure.of(most * (1 + _ROUNDED)).upper_float), Fraction(1))

    return Rate(rate="membership-advantage", at=None, epsilon=epsilon, delta=delta.upper_float, follows=follows)


def true_positive_rate(false_positives: Fraction, epsilon: Fraction, delta: Enclosure) -> Rate:
    """The most true positives at so many false positives: from (ε, δ), by whichever of its two sides is the smaller."""
    growth = Enclosure.of(epsilon).exp()

    def follows(found: Fraction) -> Fraction:
        other = 1 - (1 - found - false_positives) / growth
        value = (growth * false_positives + found).minimum(other).upper
        return min(Fraction(Enclosure.of(value * (1 + _ROUNDED)).upper_float), Fraction(1))

    return Rate(
        rate="true-positive-rate", at=false_positives, epsilon=epsilon, delta=delta.upper_float, follows=follows
    )


def bayes_risk_rate(prior: Fraction, epsilon: Fraction, delta: Enclosure) -> Rate:
    """The least Bayes risk at a prior, from an (ε, δ); best where e^ε is (1 − m)/m, m = min(prior, 1 − prior)."""
    less = min(prior, 1 - prior)
    beyond = (Enclosure.of(epsilon).exp() * less).upper > 1 - less
    corner = (1 / (Enclosure.of(epsilon).exp() + 1)).lower * (1 - _ROUNDED)

    def follows(found: Fraction) -> Fraction:
        share = min(less, corner) if beyond else less
        return Fraction(Enclosure.of(share * (1 - found)).lower_float)

    return Rate(rate="bayes-risk", at=prior, epsilon=epsilon, delta=delta.upper_float, follows=follows, at_least=True)
