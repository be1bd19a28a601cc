"""What certificates of every kind state beside their inputs, and how that is held together."""

from typing import Any, Final

from . import intervals, shapes
from .data import Data
from .domain import DOMAIN, Domain
from .expressions import Box, Pool, order_of
from .intervals import Arithmetic, Interval, at_most
from .verdict import Claim, Outcome, Refused, Verdict

ASSUMED: Final = "profile assumed"

PART: Final = shapes.record(
    name=shapes.text,
    version=shapes.text,
    distribution=shapes.text,
    evidence=shapes.one_of("proved", "cited", "heuristic"),
    citation=shapes.text,
    options=shapes.mapping(shapes.text),
)
_CLAIM = shapes.record(
    unit=shapes.one_of("record"),
    relation=shapes.one_of("add-remove"),
    notion=shapes.one_of("pure"),
    profile=shapes.record(remove=shapes.anything, add=shapes.anything),
    supremum=shapes.optional(
        shapes.record(
            domain=DOMAIN,
            lower=shapes.optional(shapes.number),
            upper=shapes.number,
            maximiser=shapes.optional(shapes.mapping(shapes.a_rational)),
        )
    ),
)
_DATA = shapes.record(
    commitment=shapes.hexadecimal(64),
    nonce=shapes.hexadecimal(64),
    records=shapes.integer(0, 2**53),
    columns=shapes.integer(1, 2**53),
    outside=shapes.one_of("clip", "drop", "none"),
    psi_max=shapes.number,
    expected_sample_size=shapes.sequence(shapes.number, 2),
)


def body_of(kind: str, theorem: str, inputs: shapes.Shape) -> shapes.Shape:
    """Give the shape of a certificate of a kind with these inputs."""
    return shapes.record(
        format=shapes.text,
        kind=shapes.one_of(kind),
        audience=shapes.one_of("public", "owner"),
        theorem=shapes.one_of(theorem),
        claim=_CLAIM,
        inputs=inputs,
        mechanism=PART,
        sampler=PART,
        assumptions=shapes.sequence(shapes.record(name=shapes.text, value=shapes.text)),
        precision=shapes.integer(24, 4096),
        versions=shapes.mapping(shapes.text),
        data=shapes.optional(_DATA),
    )


def check_audience(body: dict[str, Any]) -> None:
    """Refuse data in a public certificate, and an owner's without."""
    if (body["audience"] == "owner") != (body["data"] is not None):
        raise Refused("data belong in an owner's certificate, and only there")


def domain_of(body: dict[str, Any]) -> Domain | None:
    """Read the public domain."""
    supremum = body["claim"]["supremum"]
    if supremum is None and body["data"] is not None and body["data"]["outside"] != "none":
        raise Refused("records outside a domain are clipped or dropped, but there is no domain")
    return None if supremum is None else Domain.of(supremum["domain"])


def check_assumptions(
    body: dict[str, Any], domain: Domain | None, others: list[str], needed: dict[str, str]
) -> dict[str, str]:
    """Hold the assumptions against what the certificate rests on.

    `others` are the orders of norms that matter beside the domain's own; `needed` is what the kind needs assumed.
    """
    assumptions = {item["name"]: item["value"] for item in body["assumptions"]}
    if len(assumptions) != len(body["assumptions"]):
        raise Refused("an assumption is named twice")
    needed = dict(needed)
    for role in ("mechanism", "sampler"):
        part = body[role]
        if part["evidence"] == "heuristic":
            raise Refused(f"heuristic evidence never certifies ({role} {part['name']!a})")
        needed[f"evidence of {role} {part['name']}"] = part["evidence"]
        needed |= {f"{role}.{key}": value for key, value in part["options"].items()}
    if domain is not None:
        needed |= {"norm": domain.p, "radius": body["claim"]["supremum"]["domain"]["radius"]}
        if others:
            needed["dimension"] = str(domain.dimension)
    if shapes.rational(body["inputs"]["released_cost"], "inputs.released_cost"):
        needed["released cost"] = body["inputs"]["released_cost"]
    for name, value in needed.items():
        if assumptions.get(name) != value:
            raise Refused(f"the assumptions must state {name!a} as {value!a}")
    return assumptions


def check_figures(body: dict[str, Any], domain: Domain | None) -> None:
    """Refuse what no data could have: an owner's figures are proven only where the data are given."""
    stated = body["data"]
    if stated is None:
        return
    if domain is not None and domain.dimension not in (None, stated["columns"]):
        raise Refused("the domain's dimension is not the number of columns")
    low, high = stated["expected_sample_size"]
    if stated["psi_max"] < 0 or not 0 <= low <= high:
        raise Refused("the owner's figures are no figures of any data")


def norm_ranges(
    used: set[str], domain: Domain | None, others: list[str], arithmetic: Arithmetic
) -> dict[str, Interval]:
    """Enclose the norms among the variables used: over the domain, else over every record."""
    box = dict.fromkeys((variable for variable in used if order_of(variable) is not None), intervals.FROM_ZERO)
    return box if domain is None else box | domain.norms(others, arithmetic)


def range_where_defined(pool: Pool, root: int, box: Box, what: str, arithmetic: Arithmetic) -> Interval:
    """Enclose an expression that is proven to be defined everywhere."""
    values, regular = pool.evaluate(root, box, arithmetic)
    if not regular:
        raise Refused(f"{what} could not be proven to be defined everywhere")
    return values[root]


def prove_not_negative(pool: Pool, root: int, box: Box, what: str, arithmetic: Arithmetic) -> None:
    """Prove that an expression is defined and at least 0 everywhere."""
    if not at_most(intervals.ZERO, range_where_defined(pool, root, box, what, arithmetic).lo):
        raise Refused(f"{what} could not be proven to be at least 0")


def accepted(
    body: dict[str, Any], reason: str, assumptions: dict[str, str], domain: Domain | None, data: Data | None
) -> Verdict:
    """Give the verdict on a certificate whose claim was proven, and whose figures were where data are given."""
    owned, compared = body["data"] is not None, data is not None and body["data"] is not None
    if owned and not compared:
        reason += "; the owner's figures were not checked, since no data were given"
    if data is not None and not compared:
        reason += "; a public certificate is not bound to data, so they were not compared"
    cited = any(body[role]["evidence"] == "cited" for role in ("mechanism", "sampler"))
    supremum = body["claim"]["supremum"]
    return Verdict(
        outcome=Outcome.HOLDS_ASSUMING_PROFILE if cited or ASSUMED in assumptions else Outcome.HOLDS,
        reason=reason,
        data_compared=compared,
        claim=Claim(
            theorem=body["theorem"],
            guarantee="pure differential privacy per record under add-remove",
            audience=body["audience"],
            epsilon=None if supremum is None else (supremum["lower"], supremum["upper"]),
            domain=None if domain is None else str(domain),
        ),
    )
