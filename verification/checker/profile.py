"""Certificates of kind "sampled-pure-profile": the pure loss of a mechanism on a sample of its records.

Theorem 6 of the importance sampling paper, with q the rate, w the weight and ε(w, x) the loss of one record:
the sampled mechanism loses about x at most ψ = log(1 + q·(e^ε(w, x) - 1)) when x is removed and
-log(1 - q·(1 - e^-ε(w, x))) when x is added, and ψ is the larger for every ε ≥ 0 and q in [0, 1], since
(1 + q·(e^ε - 1))·(1 - q·(1 - e^-ε)) = 1 + q·(1 - q)·(e^ε - 2 + e^-ε) ≥ 1. Where q = 0, ψ = 0.

Symbols: Q the declared rate, η the relative rounding of rate and weight, W the weight applied, E the loss
at that weight, c the pure cost of releasing the constants used.
"""

from fractions import Fraction
from typing import Any, Final, NamedTuple

from . import intervals, shapes
from .budget import Budget
from .data import Data, Measure, Measured, compare
from .declared import hold_sampler
from .domain import Domain
from .expressions import WEIGHT, Pool, order_of, rounding
from .intervals import Arithmetic, Interval, at_most, exact
from .statement import (
    accepted_profile,
    body_of,
    check_audience,
    check_figures,
    domain_of,
    hold_pure_assumptions,
    hold_pure_loss,
    norm_ranges,
    prove_not_negative,
    prove_rate,
)
from .supremum import enclose_at, prove_at_most
from .verdict import Refused, Verdict

KIND: Final = "sampled-pure-profile"
THEOREM: Final = "IS Theorem 6"
_NEVER_DRAWN: Final = exact(2.0**-961)

_BODY = body_of(
    KIND,
    THEOREM,
    shapes.record(
        loss=shapes.anything,
        rate=shapes.anything,
        weighted=shapes.flag,
        rounding=shapes.not_negative,
        released_cost=shapes.not_negative,
    ),
)
_LEAST_ROUNDING = Fraction(4, 2**53)
"""Two roundings of a computed probability, one of its reciprocal, one in reserve."""


class Profile(NamedTuple):
    """The expressions of a certificate in one pool."""

    pool: Pool
    loss: int
    rate: int
    remove: int
    add: int


def check_sampled_pure_profile(body: dict[str, Any], data: Data | None, budget: Budget) -> Verdict:
    """Check a certificate of this kind, and compare an owner's with the data where they are given."""
    _BODY(body, "certificate")
    check_audience(body)
    profile = _compose(body, budget)
    domain = domain_of(body)
    others = [] if domain is None else domain.others(profile.pool.variables(profile.remove))
    inputs, supremum = body["inputs"], body["claim"]["supremum"]
    hold_sampler(body["sampler"], inputs["rate"], inputs["weighted"], domain, relation=body["claim"]["relation"])
    needed = hold_pure_loss(body, inputs["rate"], domain)
    if Fraction(inputs["rounding"]):
        needed["relative rounding of probability and weight"] = inputs["rounding"]
    norms = {v for v in profile.pool.variables(profile.remove) if order_of(v) is not None}
    assumed = hold_pure_assumptions(body, needed, norms_matter=bool(norms))
    check_figures(body, domain)
    arithmetic = Arithmetic(max(128, body["precision"] + 64))
    _check_premises(profile, domain, others, inputs["weighted"], arithmetic)
    if domain is not None:
        _check_supremum(profile, domain, others, supremum, arithmetic)
    if data is not None and body["data"] is not None:
        norms = profile.pool.variables(profile.remove) | profile.pool.variables(profile.rate)
        compare(_measure(profile), norms, domain, body["data"], data)
    reason = f"given the loss stated for mechanism {body['mechanism']['name']!a}, the profile follows"
    if domain is not None:
        reason += "; its supremum over the domain is proven"
    return accepted_profile(body, reason, assumed, domain, data)


def _measure(profile: Profile) -> Measure:
    """Enclose what a record of these norms loses, and with what probability it is declared to be drawn."""

    def measure(norms: dict[str, Interval], arithmetic: Arithmetic) -> Measured:
        pool = profile.pool.for_a_record()
        box = {**norms, rounding("rate"): intervals.UNIT, rounding("weight"): intervals.UNIT}
        drawn = pool.evaluate(profile.rate, box, arithmetic).values[profile.rate]
        if at_most(drawn.hi, _NEVER_DRAWN):
            return Measured(intervals.ZERO, drawn)
        return Measured(pool.evaluate(profile.remove, box, arithmetic).values[profile.remove].hi, drawn)

    return measure


def _compose(body: dict[str, Any], budget: Budget) -> Profile:
    """Compose the profile from the inputs, and hold the claimed one against it."""
    pool, inputs = Pool(budget), body["inputs"]
    loss = pool.parse(inputs["loss"], "inputs.loss")
    rate = pool.parse(inputs["rate"], "inputs.rate")
    in_rate, in_loss = ({v for v in pool.variables(root) if order_of(v) is None} for root in (rate, loss))
    if in_rate or not in_loss <= {WEIGHT}:
        raise Refused("the rate may use norms alone, the loss norms and the weight")
    cost = Fraction(inputs["released_cost"])
    drawn, weight = realised(pool, rate, inputs)
    zero = pool.constant(0)
    spent = pool.replace(loss, {pool.variable(WEIGHT): weight})

    def sampled(exponent: int) -> int:
        return pool.node("log1p", pool.node("multiply", drawn, pool.node("expm1", exponent)))

    def with_cost(value: int) -> int:
        return pool.node("add", value, pool.constant(cost)) if cost else value

    remove = with_cost(sampled(spent))
    add = with_cost(pool.node("subtract", zero, sampled(pool.node("subtract", zero, spent))))
    for direction, composed in (("remove", remove), ("add", add)):
        where = f"claim.profile.{direction}"
        if pool.parse(body["claim"]["profile"][direction], where) != composed:
            raise Refused(f"{where} is not what {THEOREM} gives for the inputs")
    return Profile(pool, loss, rate, remove, add)


def realised(pool: Pool, rate: int, inputs: dict[str, Any]) -> tuple[int, int]:
    """Give the probability drawn and the weight applied, within the stated rounding of the declared ones."""
    relative, one = Fraction(inputs["rounding"]), pool.constant(1)
    if relative >= 1:
        raise Refused("inputs.rounding must be below 1")
    if relative < _LEAST_ROUNDING and not _exactly_drawn(inputs):
        raise Refused("inputs.rounding is below what drawing binary64 probabilities needs")

    def rounded(value: int, of: str) -> int:
        error = pool.node("multiply", pool.constant(relative), pool.variable(rounding(of)))
        return pool.node("multiply", value, pool.node("add", one, error))

    drawn = pool.node("minimum", one, rounded(rate, "rate")) if relative else rate
    if not inputs["weighted"]:
        return drawn, one
    weight = pool.node("divide", one, rate)
    return drawn, pool.node("maximum", one, rounded(weight, "weight")) if relative else weight


def _exactly_drawn(inputs: dict[str, Any]) -> bool:
    """Whether the rate is a constant that binary64 holds, and so is its reciprocal where records are weighted."""
    match inputs["rate"]:
        case ["constant", str(text)]:
            rate = Fraction(text)
        case _:
            return False
    if not 0 <= rate <= 1 or Fraction(float(rate)) != rate:
        return False
    if not inputs["weighted"] or not rate:
        return True
    weight = 1 / rate
    return weight < 2**1023 and Fraction(float(weight)) == weight


def _check_premises(
    profile: Profile, domain: Domain | None, others: list[str], weighted: bool, arithmetic: Arithmetic
) -> None:
    """Prove that the loss is defined and at least 0 at every weight from 1, and the rate within [0, 1]."""
    pool = profile.pool
    box = norm_ranges(pool.variables(profile.loss) | pool.variables(profile.rate), domain, others, arithmetic)
    box[WEIGHT] = intervals.FROM_ONE if weighted else Interval(intervals.ONE, intervals.ONE)
    prove_not_negative(pool, profile.loss, box, "inputs.loss", arithmetic)
    prove_rate(pool, profile.rate, box, "inputs.rate", arithmetic)


def _check_supremum(
    profile: Profile, domain: Domain, others: list[str], claim: dict[str, Any], arithmetic: Arithmetic
) -> None:
    """Prove that ψ ≤ upper on the domain, and ψ ≥ lower at the named point of it."""
    pool, lower, upper = profile.pool, claim["lower"], claim["upper"]
    root, sides = domain.place(pool, profile.remove, arithmetic)
    box = {rounding(of): intervals.UNIT for of in ("rate", "weight")} | sides
    if (lower is None) != (claim["maximiser"] is None):
        raise Refused("a lower end needs the maximiser at which it is reached, and a maximiser is of nothing else")
    if lower is not None:
        if len(others) > 1:
            raise Refused("a lower end is not provable: two ratios of norms may not reach it together")
        point = {name: Fraction(value) for name, value in claim["maximiser"].items()}
        domain.check_point(point, box, others, arithmetic)
        if missing := pool.variables(root) - point.keys():
            raise Refused(f"the maximiser lacks {', '.join(sorted(missing))}")
        if not at_most(exact(lower), enclose_at(pool, root, point, arithmetic).lo):
            raise Refused("the claimed lower end is not reached at the maximiser")
    used = pool.variables(root)
    box = {name: side for name, side in box.items() if name in used}
    prove_at_most(
        pool, root, box, exact(upper), arithmetic, "the profile exceeds the claimed upper end of its supremum"
    )
