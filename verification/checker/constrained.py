"""Certificates of kind "constrained-pure-profile": each record is drawn with the largest weight within a target.

The mechanism loses ε(w, x) about a record of weight w, and k releases on one sample lose k·ε(w, x). A record drawn
with probability 1/w loses at most ψ = log(1 + (e^(k·ε(w, x)) - 1)/w) to a sample (Theorem 6 of the importance sampling
paper), and m·ψ to m fresh ones (basic composition). The rule for drawing takes a weight w such that ψ ≤ ε*/m at every
weight from 1 to w (Problem 7). There is one, such as w = 1, for every record with k·ε(1, x) ≤ ε*/m.

What is proven here: that the loss is defined and at least 0 for every record of the domain and weight of at least 1,
and k·ε(1, x) ≤ ε*/m for every record of the domain, so that the rule draws all of them. That a program keeps to the
rule is not in any file. An owner's figures are compared for one release of a loss proportional to the weight, for which
the largest weight is found again; for other runs there are no owner's certificates.
"""

from fractions import Fraction
from typing import Any, Final, NamedTuple

from . import intervals, shapes
from .budget import Budget
from .data import Data, Measure, Measured, compare
from .declared import DISTRIBUTION, hold_rule
from .domain import Domain
from .expressions import WEIGHT, Pool, norm, order_of
from .feasible import LARGEST_WEIGHT, LEAST_TARGET, MOST_TARGET, Rule
from .homogeneous import is_proportional, prove_proportional
from .intervals import Arithmetic, Interval, at_most, rational_of
from .rationals import Range, rational_range
from .statement import (
    ROLES,
    accepted_profile,
    body_of,
    check_audience,
    check_figures,
    domain_of,
    hold_pure_assumptions,
    hold_pure_loss,
    norm_ranges,
    prove_not_negative,
)
from .supremum import prove_at_most
from .verdict import Refused, Verdict

KIND: Final = "constrained-pure-profile"
THEOREM: Final = "IS Problem 7 and Theorem 6"

MOST_RELEASES: Final = 2**53
_BODY = body_of(
    KIND,
    THEOREM,
    shapes.record(
        loss=shapes.anything,
        target=shapes.not_negative,
        largest_weight=shapes.optional(shapes.not_negative),
        released_cost=shapes.not_negative,
        samples=shapes.integer(1, MOST_RELEASES),
        releases_on_a_sample=shapes.integer(1, MOST_RELEASES),
    ),
)
VARYING: Final = ["solved for"]
"""In the place of a rate, which no expression gives."""
_TOO_LARGE: Final = "some record of the domain loses more than the target at weight 1"
_ALLOWED: Final = Fraction(1, 2**39)
"""What the rule may fall short of the largest weight, and a bound of A in floats lie above A, relatively: 10^-12."""


class Inputs(NamedTuple):
    """The loss to one sample, at any weight and at 1, and the rule for it, with the cost of released constants."""

    pool: Pool
    loss: int
    unit_loss: int
    rule: Rule
    samples: int
    together: int
    cost: Fraction

    @property
    def target(self) -> Fraction:
        """What no record loses more than to the releases."""
        return self.rule.target * self.samples

    @property
    def total(self) -> Fraction:
        """The loss that no record exceeds: target plus cost."""
        return self.target + self.cost


def check_constrained_pure_profile(body: dict[str, Any], data: Data | None, budget: Budget) -> Verdict:
    """Check a certificate of this kind, and compare an owner's with the data where they are given."""
    _BODY(body, "certificate")
    check_audience(body)
    inputs = _read(body, budget)
    _check_claim(body["claim"], inputs)
    domain = domain_of(body)
    used = inputs.pool.variables(inputs.unit_loss)
    others = [] if domain is None else domain.others(used)
    hold_rule(body["sampler"], {"target": body["inputs"]["target"]}, inputs.rule.largest)
    _hold_digits(body, inputs)
    needed = _assumed(inputs, domain) | hold_pure_loss(body, VARYING, domain)
    assumed = hold_pure_assumptions(body, needed, indifferent=frozenset({"mechanism"}), norms_matter=False)
    check_figures(body, domain)
    if body["data"] is not None:
        _check_comparable(inputs)
    if body["data"] is not None and body["data"]["psi_max"] > intervals.upper_float(inputs.total):
        raise Refused("the stated largest psi exceeds the target and the cost of the released constants")
    arithmetic = Arithmetic(max(128, body["precision"] + 64))
    box = {**norm_ranges(used, domain, others, arithmetic), WEIGHT: intervals.FROM_ONE}
    prove_not_negative(inputs.pool, inputs.loss, box, "inputs.loss", arithmetic)
    if domain is not None:
        _prove_drawable(inputs, domain, arithmetic)
    if data is not None and body["data"] is not None:
        compare(_measure(inputs), used, domain, body["data"], data)
    whom = (
        "every record that loses no more than the target at weight 1"
        if domain is None
        else "every record of the domain"
    )
    reason = (
        f"given the loss stated for mechanism {body['mechanism']['name']!a}, "
        f"psi is within the target for {whom}, with any weight that the rule admits"
    )
    return accepted_profile(body, reason, assumed, domain, data)


def _assumed(inputs: Inputs, domain: Domain | None) -> dict[str, str]:
    """Name what is assumed of the records without a domain, and of the plan of several releases."""
    assumed = {}
    if domain is None:
        where = "at weight 1" if inputs.together == 1 else f"in {inputs.together} releases at weight 1"
        assumed["records"] = f"those that lose at most {inputs.rule.target} {where}"
    return assumed | plan_assumed(inputs.samples, inputs.together)


def plan_assumed(samples: int, together: int) -> dict[str, str]:
    """Name what is assumed of a plan of several releases."""
    if samples > 1 and together > 1:
        raise Refused("several releases are on one sample, or each on a fresh one")
    if samples > 1:
        return {"releases": f"{samples}, each on a fresh sample"}
    return {"releases": f"{together} on one sample"} if together > 1 else {}


def read_largest_weight(inputs: dict[str, Any]) -> Fraction | None:
    """Read the cap on the weights."""
    largest = None if inputs["largest_weight"] is None else Fraction(inputs["largest_weight"])
    if largest is not None and not (1 <= largest <= LARGEST_WEIGHT and Fraction(float(largest)) == largest):
        raise Refused("inputs.largest_weight must be a binary64 number within [1, 2^1022]")
    return largest


def _hold_digits(body: dict[str, Any], inputs: Inputs) -> None:
    """Refuse digits beside a loss of certdp that is proportional to the weight: its weights are exact."""
    own = all(body[role]["distribution"] == DISTRIBUTION for role in ROLES)
    if own and "digits" in body["sampler"]["options"] and is_proportional(inputs.pool, inputs.loss):
        raise Refused("the option digits is of losses that are not proportional to the weight")


def _check_comparable(inputs: Inputs) -> None:
    """Refuse an owner's certificate whose weights are not found again here."""
    if inputs.samples > 1 or inputs.together > 1:
        raise Refused("there are no owner's certificates of several releases")
    prove_proportional(inputs.pool, inputs.loss, "inputs.loss of an owner's certificate")


def _read(body: dict[str, Any], budget: Budget) -> Inputs:
    """Read the inputs of a certificate."""
    pool, stated = Pool(budget), body["inputs"]
    loss = pool.parse(stated["loss"], "inputs.loss")
    if any(order_of(variable) is None for variable in pool.variables(loss) - {WEIGHT}):
        raise Refused("the loss may use norms and the weight alone")
    samples, together = stated["samples"], stated["releases_on_a_sample"]
    target = Fraction(stated["target"])
    if not LEAST_TARGET <= target / samples <= MOST_TARGET:
        raise Refused("inputs.target must lie within [2^-40, 1024] for each sample")
    if body["sampler"]["options"].get("target", stated["target"]) != stated["target"]:
        raise Refused("inputs.target is not the sampler's target")
    largest = read_largest_weight(stated)
    if together > 1:
        loss = pool.node("multiply", pool.constant(together), loss)
    unit_loss = pool.replace(loss, {pool.variable(WEIGHT): pool.constant(1)})
    cost = Fraction(stated["released_cost"])
    return Inputs(pool, loss, unit_loss, Rule(target / samples, largest), samples, together, cost)


def _check_claim(claim: dict[str, Any], inputs: Inputs) -> None:
    """Hold the claimed profile and its supremum against the target and the cost of released constants."""
    pool = inputs.pool
    bound = pool.constant(inputs.target)
    if inputs.cost:
        bound = pool.node("add", bound, pool.constant(inputs.cost))
    for direction in ("remove", "add"):
        where = f"claim.profile.{direction}"
        if pool.parse(claim["profile"][direction], where) != bound:
            raise Refused(f"{where} is not the target and the cost of the released constants")
    supremum = claim["supremum"]
    if supremum is None:
        return
    if supremum["lower"] is not None or supremum["maximiser"] is not None:
        raise Refused("the target is only a bound: no lower end and no maximiser can be claimed")
    if supremum["upper"] != intervals.upper_float(inputs.total):
        raise Refused("the upper end is not the target and the cost of the released constants, rounded up")


def _prove_drawable(inputs: Inputs, domain: Domain, arithmetic: Arithmetic) -> None:
    """Prove that no record of the domain loses more than the target at weight 1."""
    pool, target = inputs.pool, inputs.rule.target
    root, box = domain.place(pool, inputs.unit_loss, arithmetic)
    used = pool.variables(root)
    box = {name: side for name, side in box.items() if name in used}
    sides = {name: Range(rational_of(side.lo), rational_of(side.hi)) for name, side in box.items()}
    if norm(domain.p) in sides:
        sides[norm(domain.p)] = Range(Fraction(0), domain.radius)
    exactly = rational_range(pool, root, sides)
    if exactly is None or exactly.hi > target:
        prove_at_most(pool, root, box, arithmetic.rational(target).lo, arithmetic, _TOO_LARGE)


def _measure(inputs: Inputs) -> Measure:
    """Bound what a record of these norms loses, and enclose the probability with which the rule draws it."""
    rule = inputs.rule

    def measure(norms: dict[str, Interval], arithmetic: Arithmetic) -> Measured:
        loss = inputs.pool.for_a_record().evaluate(inputs.unit_loss, norms, arithmetic).values[inputs.unit_loss]
        if not at_most(loss.lo, arithmetic.rational(rule.target).hi):
            raise Refused("a record loses more than the target at weight 1")
        above = arithmetic.rational(1 + _ALLOWED)
        probability = rule.probability(Interval(loss.lo, arithmetic.multiply(loss, above).hi), arithmetic)
        drawn = Interval(probability.lo, arithmetic.multiply(probability, above).hi)
        psi = Interval(intervals.ZERO, rule.psi(loss, arithmetic))
        return Measured(arithmetic.add(psi, arithmetic.rational(inputs.cost)).hi, drawn)

    return measure
