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
from .data import Data, compare
from .expressions import WEIGHT, Box, Pool, norm, order_of, rounding
from .intervals import Arithmetic, Interval, at_most, exact
from .norms import reciprocal
from .supremum import enclose_at, prove_at_most
from .verdict import Claim, Outcome, Refused, Verdict

KIND: Final = "sampled-pure-profile"
THEOREM: Final = "IS Theorem 6"
ASSUMED: Final = "profile assumed"

_PART = shapes.record(
    name=shapes.text,
    version=shapes.text,
    distribution=shapes.text,
    evidence=shapes.one_of("proved", "cited", "heuristic"),
    citation=shapes.text,
    options=shapes.mapping(shapes.text),
)
_DOMAIN = shapes.record(
    norm=shapes.an_order,
    radius=shapes.not_negative,
    dimension=shapes.optional(shapes.integer(1, 2**53)),
)
_BODY = shapes.record(
    format=shapes.text,
    kind=shapes.one_of(KIND),
    audience=shapes.one_of("public", "owner"),
    theorem=shapes.one_of(THEOREM),
    claim=shapes.record(
        unit=shapes.one_of("record"),
        relation=shapes.one_of("add-remove"),
        notion=shapes.one_of("pure"),
        profile=shapes.record(remove=shapes.anything, add=shapes.anything),
        supremum=shapes.optional(
            shapes.record(
                domain=_DOMAIN,
                lower=shapes.optional(shapes.number),
                upper=shapes.number,
                maximiser=shapes.optional(shapes.mapping(shapes.a_rational)),
            )
        ),
    ),
    inputs=shapes.record(
        loss=shapes.anything,
        rate=shapes.anything,
        weighted=shapes.flag,
        rounding=shapes.not_negative,
        released_cost=shapes.not_negative,
    ),
    mechanism=_PART,
    sampler=_PART,
    assumptions=shapes.sequence(shapes.record(name=shapes.text, value=shapes.text)),
    precision=shapes.integer(24, 4096),
    versions=shapes.mapping(shapes.text),
    data=shapes.optional(
        shapes.record(
            commitment=shapes.hexadecimal(64),
            nonce=shapes.hexadecimal(64),
            records=shapes.integer(0, 2**53),
            columns=shapes.integer(1, 2**53),
            outside=shapes.one_of("clip", "drop", "none"),
            psi_max=shapes.number,
            expected_sample_size=shapes.sequence(shapes.number, 2),
        )
    ),
)


class Profile(NamedTuple):
    """The expressions of a certificate in one pool."""

    pool: Pool
    loss: int
    rate: int
    remove: int
    add: int


class Extreme(NamedTuple):
    """The positive number base^exponent: how far one norm may lie from another."""

    base: int
    exponent: Fraction

    def enclose(self, arithmetic: Arithmetic) -> Interval:
        """Enclose it; exact but for one root where that is square."""
        return arithmetic.sqrt(arithmetic.power(arithmetic.rational(Fraction(self.base)), 2 * self.exponent))

    def order(self, value: Fraction, arithmetic: Arithmetic) -> int:
        """Give the sign of value - base^exponent for value ≥ 0, or refuse.

        A root of a degree from 54 of a number from 2 to 2^53 is irrational, so an enclosure tells it from the value.
        """
        degree = self.exponent.denominator if self.base > 1 else 1
        if degree < _LEAST_IRRATIONAL:
            return _sign(value**degree - Fraction(self.base) ** self.exponent.numerator)
        side, point = self.enclose(arithmetic), arithmetic.rational(value)
        if at_most(point.hi, side.lo):
            return -1
        if at_most(side.hi, point.lo):
            return 1
        raise Refused("the maximiser lies too close to the range of a norm to tell them apart")


class Domain(NamedTuple):
    """All records with norm(p) ≤ radius; any other norm is norm(p) times a ratio."""

    p: str
    radius: Fraction
    dimension: int | None

    def extreme_ratio(self, other: str) -> Extreme:
        """Give the norm(other)/norm(p) farthest from 1 over all records but 0; some record has any in between."""
        if self.dimension is None:
            raise Refused(f"norm({other}) over a domain in norm({self.p}) needs a dimension")
        return Extreme(self.dimension, reciprocal(other) - reciprocal(self.p))


def _domain(stated: dict[str, Any]) -> Domain:
    return Domain(stated["norm"], Fraction(stated["radius"]), stated["dimension"])


def _ratio(p: str) -> str:
    return f"ratio({p})"


_ONE: Final = Interval(intervals.ONE, intervals.ONE)
_LEAST_IRRATIONAL: Final = 54
_LEAST_ROUNDING = Fraction(4, 2**53)
"""Two roundings of a computed probability, one of its reciprocal, one in reserve."""


def check_sampled_pure_profile(body: dict[str, Any], data: Data | None) -> Verdict:
    """Check a certificate of this kind, and compare an owner's with the data where they are given."""
    _BODY(body, "certificate")
    if (body["audience"] == "owner") != (body["data"] is not None):
        raise Refused("data belong in an owner's certificate, and only there")
    profile = _compose(body)
    supremum = body["claim"]["supremum"]
    domain = None if supremum is None else _domain(supremum["domain"])
    if domain is None and body["data"] is not None and body["data"]["outside"] != "none":
        raise Refused("records outside a domain are clipped or dropped, but there is no domain")
    assumptions = _check_assumptions(body, profile, domain)
    if body["data"] is not None:
        _check_figures(body["data"], domain)
    arithmetic = Arithmetic(max(128, body["precision"] + 64))
    _check_premises(profile, domain, body["inputs"]["weighted"], arithmetic)
    if domain is not None and supremum is not None:
        _check_supremum(profile, domain, supremum, Fraction(body["inputs"]["released_cost"]), arithmetic)
    compared = data is not None and body["data"] is not None
    if data is not None and body["data"] is not None:
        _check_data(profile, domain, body["data"], data)
    reason = f"given the loss stated for mechanism {body['mechanism']['name']!a}, the profile follows"
    if domain is not None:
        reason += "; its supremum over the domain is proven"
    if body["data"] is not None and not compared:
        reason += "; the owner's figures were not checked, since no data were given"
    if data is not None and not compared:
        reason += "; a public certificate is not bound to data, so they were not compared"
    return Verdict(
        outcome=Outcome.HOLDS_ASSUMING_PROFILE if ASSUMED in assumptions else Outcome.HOLDS,
        reason=reason,
        data_compared=compared,
        claim=Claim(
            theorem=THEOREM,
            guarantee="pure differential privacy per record under add-remove",
            audience=body["audience"],
            epsilon=None if supremum is None else (supremum["lower"], supremum["upper"]),
            domain=None if domain is None else f"norm({domain.p}) <= {domain.radius}",
        ),
    )


def _compose(body: dict[str, Any]) -> Profile:
    """Compose the profile from the inputs, and hold the claimed one against it."""
    pool, inputs = Pool(), body["inputs"]
    loss = pool.parse(inputs["loss"], "inputs.loss")
    rate = pool.parse(inputs["rate"], "inputs.rate")
    in_rate, in_loss = ({v for v in pool.variables(root) if order_of(v) is None} for root in (rate, loss))
    if in_rate or not in_loss <= {WEIGHT}:
        raise Refused("the rate may use norms alone, the loss norms and the weight")
    relative, cost = Fraction(inputs["rounding"]), Fraction(inputs["released_cost"])
    if relative >= 1:
        raise Refused("inputs.rounding must be below 1")
    if relative < _LEAST_ROUNDING and not _exactly_drawn(inputs):
        raise Refused("inputs.rounding is below what drawing binary64 probabilities needs")
    zero, one = pool.constant(0), pool.constant(1)

    def rounded(value: int, of: str) -> int:
        error = pool.node("multiply", pool.constant(relative), pool.variable(rounding(of)))
        return pool.node("multiply", value, pool.node("add", one, error))

    drawn = pool.node("minimum", one, rounded(rate, "rate")) if relative else rate
    weight = one
    if inputs["weighted"]:
        weight = pool.node("divide", one, rate)
        weight = pool.node("maximum", one, rounded(weight, "weight")) if relative else weight
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


def _check_assumptions(body: dict[str, Any], profile: Profile, domain: Domain | None) -> dict[str, str]:
    """Hold the assumptions against what the certificate rests on."""
    assumptions = {item["name"]: item["value"] for item in body["assumptions"]}
    if len(assumptions) != len(body["assumptions"]):
        raise Refused("an assumption is named twice")
    needed: dict[str, str] = {}
    for role in ("mechanism", "sampler"):
        part = body[role]
        if part["evidence"] == "heuristic":
            raise Refused(f"heuristic evidence never certifies ({role} {part['name']!a})")
        needed[f"evidence of {role} {part['name']}"] = part["evidence"]
        needed |= {f"{role}.{key}": value for key, value in part["options"].items()}
    if domain is not None:
        needed |= {"norm": domain.p, "radius": body["claim"]["supremum"]["domain"]["radius"]}
        if _other_norms(profile, domain):
            needed["dimension"] = str(domain.dimension)
    inputs = body["inputs"]
    if Fraction(inputs["rounding"]):
        needed["relative rounding of probability and weight"] = inputs["rounding"]
    if Fraction(inputs["released_cost"]):
        needed["released cost"] = inputs["released_cost"]
    for name, value in needed.items():
        if assumptions.get(name) != value:
            raise Refused(f"the assumptions must state {name!a} as {value!a}")
    return assumptions


def _other_norms(profile: Profile, domain: Domain) -> list[str]:
    orders = {order_of(variable) for variable in profile.pool.variables(profile.remove)}
    return sorted(p for p in orders if p not in (None, domain.p))


def _check_premises(profile: Profile, domain: Domain | None, weighted: bool, arithmetic: Arithmetic) -> None:
    """Prove that the loss is defined and at least 0 at every weight from 1, and the rate within [0, 1]."""
    used = profile.pool.variables(profile.loss) | profile.pool.variables(profile.rate)
    box = dict.fromkeys((variable for variable in used if order_of(variable) is not None), intervals.FROM_ZERO)
    if domain is not None:
        box[norm(domain.p)] = side = Interval(intervals.ZERO, arithmetic.rational(domain.radius).hi)
        for p in _other_norms(profile, domain):
            box[norm(p)] = arithmetic.multiply(side, _ratio_range(domain, p, arithmetic))
    box[WEIGHT] = intervals.FROM_ONE if weighted else Interval(intervals.ONE, intervals.ONE)

    def range_of(root: int, what: str) -> Interval:
        values, regular = profile.pool.evaluate(root, box, arithmetic)
        if not regular:
            raise Refused(f"{what} could not be proven to be defined everywhere")
        return values[root]

    if not at_most(intervals.ZERO, range_of(profile.loss, "inputs.loss").lo):
        raise Refused("inputs.loss could not be proven to be at least 0")
    rate = range_of(profile.rate, "inputs.rate")
    if not (at_most(intervals.ZERO, rate.lo) and at_most(rate.hi, intervals.ONE)):
        raise Refused("inputs.rate could not be proven to lie within [0, 1]")


def _ratio_range(domain: Domain, other: str, arithmetic: Arithmetic) -> Interval:
    return intervals.hull(_ONE, domain.extreme_ratio(other).enclose(arithmetic))


def _check_supremum(
    profile: Profile, domain: Domain, claim: dict[str, Any], cost: Fraction, arithmetic: Arithmetic
) -> None:
    """Prove that ψ ≤ upper on the domain, and ψ ≥ lower at the named point of it."""
    pool, lower, upper = profile.pool, claim["lower"], claim["upper"]
    if upper < cost:
        raise Refused("the upper end is below the cost of the released constants")
    if lower is not None and lower > upper:
        raise Refused("the lower end of the supremum is above its upper end")
    others = _other_norms(profile, domain)
    own = pool.variable(norm(domain.p))
    radius = Interval(intervals.ZERO, arithmetic.rational(domain.radius).hi)
    box: dict[str, Interval] = {rounding(of): intervals.UNIT for of in ("rate", "weight")}
    if len(others) == 1 and norm(domain.p) not in pool.variables(profile.remove):
        # one norm alone matters: it is its own coordinate, from 0 to the largest it has in the domain
        root = profile.remove
        box[norm(others[0])] = arithmetic.multiply(radius, _ratio_range(domain, others[0], arithmetic))
    else:
        ratios = {pool.variable(norm(p)): pool.node("multiply", own, pool.variable(_ratio(p))) for p in others}
        root = pool.replace(profile.remove, ratios)
        box |= {norm(domain.p): radius, **{_ratio(p): _ratio_range(domain, p, arithmetic) for p in others}}
    if lower is not None:
        if claim["maximiser"] is None:
            raise Refused("a lower end needs the maximiser at which it is reached")
        if len(others) > 1:
            raise Refused("a lower end is not provable: two ratios of norms may not reach it together")
        point = {name: Fraction(value) for name, value in claim["maximiser"].items()}
        _check_point(point, box, domain, others, arithmetic)
        if missing := pool.variables(root) - point.keys():
            raise Refused(f"the maximiser lacks {', '.join(sorted(missing))}")
        if not at_most(exact(lower), enclose_at(pool, root, point, arithmetic).lo):
            raise Refused("the claimed lower end is not reached at the maximiser")
    used = pool.variables(root)
    prove_at_most(pool, root, {name: side for name, side in box.items() if name in used}, exact(upper), arithmetic)


def _check_point(
    point: dict[str, Fraction], box: Box, domain: Domain, others: list[str], arithmetic: Arithmetic
) -> None:
    """Hold the coordinates of a maximiser against the domain, exactly."""
    extremes = {p: domain.extreme_ratio(p) for p in others}
    ratios = {_ratio(p): extreme for p, extreme in extremes.items()}
    largest = {norm(p): extreme for p, extreme in extremes.items()} | {norm(domain.p): Extreme(1, Fraction(0))}
    for name, value in point.items():
        if name not in box:
            raise Refused(f"the maximiser names an unknown variable {name!a}")
        if name in ratios:
            # between 1 and the extreme, whichever is the larger
            inside = value > 0 and ratios[name].order(value, arithmetic) * _sign(value - 1) <= 0
        elif name in largest:
            extreme = largest[name] if largest[name].exponent > 0 else Extreme(1, Fraction(0))
            inside = value >= 0 and extreme.order(value / domain.radius, arithmetic) <= 0
        else:
            inside = abs(value) <= 1
        if not inside:
            raise Refused(f"the maximiser leaves the range of {name}")


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


def _check_figures(stated: dict[str, Any], domain: Domain | None) -> None:
    """Refuse what no data could have: these figures are proven only where the data are given."""
    if domain is not None and domain.dimension not in (None, stated["columns"]):
        raise Refused("the domain's dimension is not the number of columns")
    low, high = stated["expected_sample_size"]
    if stated["psi_max"] < 0 or not 0 <= low <= high:
        raise Refused("the owner's figures are no figures of any data")


def _check_data(profile: Profile, domain: Domain | None, stated: dict[str, Any], data: Data) -> None:
    compare(profile.pool, profile.remove, profile.rate, None if domain is None else domain[:2], stated, data)
