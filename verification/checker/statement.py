"""What certificates of every kind state beside their inputs, and how that is held together."""

from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import product
from math import inf
from typing import Any, Final, NamedTuple

from . import intervals, shapes
from .data import Data
from .declared import DISTRIBUTION, hold_mechanism
from .domain import DOMAIN, Domain
from .expressions import Box, Pool, order_of
from .intervals import Arithmetic, Interval, at_most
from .likeness import reduced
from .released import is_of_release, released_assumed
from .verdict import Claim, Outcome, Refused, Verdict
from .vocabulary import CONDITIONS, is_of_proofs

ASSUMED: Final = "profile assumed"
_LONGEST_BESIDE: Final = 1000
ROLES: Final = ("mechanism", "sampler")
_DOES: Final = {"mechanism": "loses", "sampler": "draws"}
_PURE: Final = ("laplace", "pure")

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
    """Read the public domain of a certificate."""
    supremum = body["claim"]["supremum"]
    if supremum is None and body["data"] is not None and body["data"]["outside"] != "none":
        raise Refused("records outside a domain are clipped or dropped, but there is no domain")
    return None if supremum is None else Domain.of(supremum["domain"])


def hold_pure_loss(body: dict[str, Any], rate: Any, domain: Domain | None) -> dict[str, str]:
    """Hold the loss against the mechanism named, where that is one of certdp; what it needs assumed."""
    return hold_mechanism(
        body["mechanism"],
        body["inputs"]["loss"],
        rate,
        families=_PURE,
        relation=body["claim"]["relation"],
        domain=domain,
        columns=None if body["data"] is None else body["data"]["columns"],
    )


def plugins_assumed(holder: dict[str, Any], place: str = "") -> dict[str, str]:
    """Give what mechanism and sampler need stated: their evidence and options. Heuristic evidence is refused."""
    needed = {}
    for role in ROLES:
        part = holder[role]
        if part["evidence"] == "heuristic":
            raise Refused(f"heuristic evidence never certifies ({role} {part['name']!a})")
        needed[f"{place}evidence of {role} {part['name']}"] = part["evidence"]
        needed |= {f"{place}{role}.{key}": value for key, value in part["options"].items()}
    return needed


def domain_assumed(stated: dict[str, Any] | None) -> dict[str, str]:
    """Give what a public domain needs stated."""
    if stated is None:
        return {}
    needed = {"norm": stated["norm"], "radius": stated["radius"]}
    if stated["dimension"] is not None:
        needed["dimension"] = str(stated["dimension"])
    return needed


def cost_assumed(cost: str, name: str = "released cost") -> dict[str, str]:
    """Give what a cost above 0 needs stated."""
    return {} if cost == "0" else {name: cost}


class Assumed(NamedTuple):
    """The assumptions stated, in their order: those that the proof uses, and all others."""

    used: tuple[tuple[str, str], ...]
    beside: tuple[tuple[str, str], ...]


def hold_assumptions(body: dict[str, Any], needed: dict[str, str]) -> Assumed:
    """Hold the assumptions against what the certificate rests on.

    Guarantees: each one is either needed and states what the proof uses, or is told apart from those; and none of those
    apart has a name that proofs use, or one that reads like that of another assumption.
    """
    stated = {item["name"]: item["value"] for item in body["assumptions"]}
    if len(stated) != len(body["assumptions"]):
        raise Refused("an assumption is named twice")
    for name, value in needed.items():
        if stated.get(name) != value:
            raise Refused(f"the assumptions must state {name!a} as {value!a}")
        if not is_of_proofs(name):
            raise AssertionError(name)  # it has a row in `vocabulary`, so that no other proof has it beside
    known = needed.keys() | {ASSUMED} | {name for name, value in CONDITIONS if stated.get(name) == value}
    beside = tuple((name, value) for name, value in stated.items() if name not in known)
    read = {reduced(name): name for name in stated if name in known}
    for name, value in beside:
        if not (name.isascii() and name.isprintable()) or len(name) + len(value) > _LONGEST_BESIDE:
            raise Refused(
                f"the assumption {name[:80]!a}, which the proof does not use, must have a name in printable ASCII "
                f"and at most {_LONGEST_BESIDE} characters"
            )
        if (other := read.setdefault(reduced(name), name)) != name:
            raise Refused(f"the assumption {name!a} reads like {other!a}")
        if is_of_proofs(name):
            raise Refused(f"the assumption {name!a} has a name that proofs use, and this one uses none of that value")
    return Assumed(tuple((name, value) for name, value in stated.items() if name in known), beside)


def hold_pure_assumptions(
    body: dict[str, Any], needed: dict[str, str], *, indifferent: frozenset[str] = frozenset(), norms_matter: bool
) -> Assumed:
    """Hold the assumptions of a profile against what it rests on.

    `needed` is what its kind needs beside the rest, `indifferent` the roles on whose options the bound does not depend.
    """
    supremum, cost = body["claim"]["supremum"], body["inputs"]["released_cost"]
    domain = None if supremum is None else supremum["domain"]
    released = released_assumed(
        body["assumptions"],
        {"": body},
        indifferent=indifferent,
        domain=domain,
        norms_matter=norms_matter,
        cost=cost != "0",
    )
    return hold_assumptions(
        body, plugins_assumed(body) | domain_assumed(domain) | cost_assumed(cost) | released | needed
    )


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


def prove_rate(pool: Pool, root: int, box: Box, what: str, arithmetic: Arithmetic) -> None:
    """Prove that an expression is defined and within [0, 1] everywhere."""
    rate = range_where_defined(pool, root, box, what, arithmetic)
    if not (at_most(intervals.ZERO, rate.lo) and at_most(rate.hi, intervals.ONE)):
        raise Refused(f"{what} could not be proven to lie within [0, 1]")


def accepted_profile(
    body: dict[str, Any], reason: str, assumed: Assumed, domain: Domain | None, data: Data | None
) -> Verdict:
    """Give the verdict on a profile that was proven, and whose figures were where data are given."""
    compared = data is not None and body["data"] is not None
    if body["data"] is not None and not compared:
        reason += "; the owner's figures were not checked, since no data were given"
    supremum = body["claim"]["supremum"]
    claim = Claim(
        theorem=body["theorem"],
        guarantee="pure differential privacy per record under add-remove",
        unit=body["claim"]["unit"],
        whom=body["claim"]["unit"],
        together=1,
        relation=body["claim"]["relation"],
        audience=body["audience"],
        epsilon=None if supremum is None else (supremum["lower"], supremum["upper"]),
        bound=None if supremum is None else (Fraction(supremum["upper"]), Fraction(0)),
        domain=None if domain is None else str(domain),
        distributions=_distributions([body]),
        assumptions=assumed.used,
        beside=assumed.beside,
        notion=body["claim"]["notion"],
        parameters=() if supremum is None else (("epsilon", Fraction(supremum["upper"])), ("delta", Fraction(0))),
    )
    return accepted([body], reason, claim, data=data, compared=compared)


def accepted_approximate(
    body: dict[str, Any],
    holders: Sequence[dict[str, Any]],
    reason: str,
    assumed: Assumed,
    *,
    whom: str,
    domain: str,
    data: Data | None,
) -> Verdict:
    """Give the verdict on a public (epsilon, delta) that was proven."""
    stated = body["claim"]
    epsilon, delta = Fraction(stated["epsilon"]), Fraction(stated["delta"])
    words = f"({in_decimals(epsilon)}, {in_decimals(delta)})-differential privacy"
    parameters = ("epsilon", epsilon), ("delta", delta)
    return accepted_numbers(
        body, holders, reason, assumed, words=words, parameters=parameters, whom=whom, domain=domain, data=data
    )


def accepted_numbers(
    body: dict[str, Any],
    holders: Sequence[dict[str, Any]],
    reason: str,
    assumed: Assumed,
    *,
    words: str,
    parameters: tuple[tuple[str, Fraction], ...],
    whom: str,
    domain: str | None,
    data: Data | None,
) -> Verdict:
    """Give the verdict on public numbers of a notion that were proven; of (epsilon, delta) they can be compared."""
    stated, named = body["claim"], dict(parameters)
    bound = (named["epsilon"], named["delta"]) if named.keys() == {"epsilon", "delta"} else None
    claim = Claim(
        theorem=body["theorem"],
        guarantee=f"{words} per {whom} under {stated['relation']}",
        unit=stated["unit"],
        whom=whom,
        together=stated.get("contributions") or stated.get("group", 1),
        relation=stated["relation"],
        audience=body["audience"],
        epsilon=None if bound is None else (None, intervals.upper_float(bound[0])),
        bound=bound,
        domain=domain,
        distributions=_distributions(holders),
        assumptions=assumed.used,
        beside=assumed.beside,
        notion=stated["notion"],
        parameters=parameters,
    )
    return accepted(holders, reason, claim, data=data)


def accepted(
    holders: Sequence[dict[str, Any]],
    reason: str,
    claim: Claim,
    *,
    data: Data | None,
    compared: bool = False,
) -> Verdict:
    """Give the verdict on a claim that was proven for the plugins of these holders.

    It holds without an assumption only where nothing is taken from anybody: the one place where that is decided.
    """
    if data is not None and not compared:
        reason += "; a public certificate is not bound to data, so they were not compared"
    words = list(dict.fromkeys([*_by_others(holders), *_taken(claim)]))
    return Verdict(
        outcome=Outcome.HOLDS_ASSUMING_PROFILE if words else Outcome.HOLDS,
        reason="; ".join([reason, *words]),
        data_compared=compared,
        claim=claim,
    )


def _distributions(holders: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Give the distributions of all mechanisms and samplers, each once."""
    return tuple(dict.fromkeys(holder[role]["distribution"] for holder, role in product(holders, ROLES)))


def _taken(claim: Claim) -> Iterator[str]:
    """Say what else than a loss or a rate is taken from an author."""
    used = {name for name, _ in claim.assumptions}
    if any(map(is_of_release, used)):  # nothing costs without one
        yield "what releasing constants cost is taken as stated"
    if ASSUMED in used:
        yield f"the assumptions say {ASSUMED!a}"


def _by_others(holders: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Say of each plugin of another distribution whose it is, and on what its author says that it rests."""
    for holder, role in product(holders, ROLES):
        part = holder[role]
        if part["distribution"] != DISTRIBUTION:
            yield (
                f"{role} {part['name']!a} is of distribution {part['distribution']!a}, not of {DISTRIBUTION}: that it "
                f"{_DOES[role]} as stated is taken from its author, whose evidence is stated as {part['evidence']}"
            )


def exactly(value: Fraction) -> str:
    """Give a number in decimals where these are exact, else as a ratio."""
    near = in_decimals(value)
    return near if Fraction(near) == value else str(value)


def in_decimals(value: Fraction, *, up: bool = True) -> str:
    """Give a number in decimals: itself where these are exact, else rounded to 15 digits, up unless said otherwise."""
    if intervals.upper_float(value) == inf:
        return str(value)
    near = repr(float(value))
    if Fraction(near) == value:
        return near
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    above = Context(prec=15, rounding=rounding).divide(Decimal(value.numerator), Decimal(value.denominator))
    near = repr(float(above))
    return near if Fraction(near) == Fraction(above) else str(above)  # binary64 ends before decimals do
