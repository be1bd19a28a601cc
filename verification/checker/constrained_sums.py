"""Certificates of kinds "constrained-approximate" and "constrained-renyi": Gaussian sums of the largest weights.

A release adds normal noise; a record of weight w moves it by s(w, x) standard deviations, and is drawn with probability
1/w. The rule for drawing takes a weight w such that all releases together are within the target, which is an epsilon
at a delta or a tau at an order, at every weight from 1 to w (Problem 7 of the importance sampling paper, with the
law of the run in place of a pure loss). So no record that is drawn loses more.

What is proven here: that the shift is defined and at least 0 for every record of the domain and weight of at least 1;
and that every record of the domain, which is always drawn at weight 1, is within the target there, so that the rule
draws all of them. That a program keeps to the rule is not in any file.
"""

from fractions import Fraction
from typing import Any, Final, NamedTuple

from . import intervals, shapes
from .approximate.claims import Approximate, Composed, Renyi
from .approximate.factors import DIRECTIONS, GAUSSIAN, Factor
from .budget import Budget
from .constrained import MOST_RELEASES, VARYING, plan_assumed, read_largest_weight
from .data import Data
from .declared import hold_mechanism, hold_rule
from .domain import DOMAIN, Domain
from .expressions import WEIGHT, Pool, order_of
from .intervals import Arithmetic
from .released import released_assumed
from .statement import (
    PART,
    accepted_numbers,
    domain_assumed,
    hold_assumptions,
    norm_ranges,
    plugins_assumed,
    prove_not_negative,
)
from .supremum import prove_at_most
from .verdict import Refused, Verdict

_ARITHMETIC: Final = Arithmetic(192)
_PROBLEM: Final = "IS Problem 7"


class _Notion(NamedTuple):
    """The claim that is made of the run at weight 1 as well, how that is proven, and which number the target limits."""

    claim: type[Composed]
    method: dict[str, Any] | None
    limited: str
    at: str


KINDS: Final = {
    "constrained-approximate": _Notion(Approximate, {"name": "hockey-stick"}, "epsilon", "delta"),
    "constrained-renyi": _Notion(Renyi, None, "tau", "order"),
}


def _hold_shape(body: dict[str, Any], notion: _Notion) -> None:
    shape = shapes.record(
        format=shapes.text,
        kind=shapes.one_of(body["kind"]),
        audience=shapes.one_of("public"),
        theorem=shapes.text,
        claim=shapes.record(
            unit=shapes.one_of("record"),
            relation=shapes.one_of("add-remove"),
            notion=shapes.one_of(notion.claim.notion),
            domain=DOMAIN,
            **notion.claim.fields,
        ),
        inputs=shapes.record(
            shift=shapes.anything,
            largest_shift=shapes.not_negative,
            largest_weight=shapes.optional(shapes.not_negative),
            samples=shapes.integer(1, MOST_RELEASES),
            releases_on_a_sample=shapes.integer(1, MOST_RELEASES),
        ),
        mechanism=PART,
        sampler=PART,
        assumptions=shapes.sequence(shapes.record(name=shapes.text, value=shapes.text)),
        versions=shapes.mapping(shapes.text),
    )
    shape(body, "certificate")


def check_constrained_sum(body: dict[str, Any], data: Data | None, budget: Budget) -> Verdict:
    """Check a certificate of these kinds; it is never bound to data."""
    notion = KINDS[body["kind"]]
    _hold_shape(body, notion)
    claim, inputs = body["claim"], body["inputs"]
    claimed = notion.claim(claim, notion.method, Fraction(0), budget)
    theorem = f"{_PROBLEM} and {claimed.theorem}"
    if body["theorem"] != theorem:
        raise Refused(f"the theorem of this kind is {theorem!a}")
    domain = Domain.of(claim["domain"])
    target = {"target": claim[notion.limited], notion.at: claim[notion.at]}
    hold_rule(body["sampler"], target, read_largest_weight(inputs))
    released_assumed(body["assumptions"], {}, domain=None, norms_matter=True, cost=False)
    needed = plugins_assumed(body) | domain_assumed(claim["domain"])
    needed |= plan_assumed(inputs["samples"], inputs["releases_on_a_sample"])
    needed |= hold_mechanism(
        body["mechanism"],
        inputs["shift"],
        VARYING,
        families=(GAUSSIAN,),
        relation=claim["relation"],
        domain=domain,
    )
    assumed = hold_assumptions(body, needed)
    _prove_shift(inputs, domain, budget)
    shift = _ARITHMETIC.above(Fraction(inputs["largest_shift"]))
    factor = Factor(GAUSSIAN, shift, Fraction(1), inputs["releases_on_a_sample"], inputs["samples"])
    for direction in DIRECTIONS:
        claimed.prove([] if factor.null else [factor], direction)
    reason = (
        f"given the loss stated for mechanism {body['mechanism']['name']!a}, "
        "every record of the domain is within the target, with any weight that the rule admits"
    )
    return accepted_numbers(
        body,
        [body],
        reason,
        assumed,
        words=claimed.words,
        parameters=claimed.parameters,
        whom="record",
        domain=str(domain),
        data=data,
    )


def _prove_shift(inputs: dict[str, Any], domain: Domain, budget: Budget) -> None:
    """Prove that the shift is at least 0 at every weight from 1, and bounded as stated at weight 1."""
    pool = Pool(budget)
    shift = pool.parse(inputs["shift"], "inputs.shift")
    used = pool.variables(shift)
    if any(order_of(variable) is None for variable in used - {WEIGHT}):
        raise Refused("the shift may use norms and the weight alone")
    norms = norm_ranges(used, domain, domain.others(used), _ARITHMETIC)
    prove_not_negative(pool, shift, {**norms, WEIGHT: intervals.FROM_ONE}, "inputs.shift", _ARITHMETIC)
    at_one = pool.replace(shift, {pool.variable(WEIGHT): pool.constant(1)})
    root, box = domain.place(pool, at_one, _ARITHMETIC)
    sides = {name: side for name, side in box.items() if name in pool.variables(root)}
    most = _ARITHMETIC.rational(Fraction(inputs["largest_shift"])).lo
    prove_at_most(pool, root, sides, most, _ARITHMETIC, "some record of the domain is moved by more than is stated")
