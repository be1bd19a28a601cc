"""Certificates of the kinds "composed-…": what a run of releases on samples loses, in the notion of the kind.

A run is fixed beforehand, or its parameters are chosen while it goes, under a filter. It has parts; each is releases
of one mechanism on samples drawn by one sampler, all on one sample or each on a fresh one. About one record a release
costs a pair of laws from a family that grows with its parameter, and sampling grows with the rate. So on a cell of the
domain the pair at the largest parameter and rate dominates; for any choice of one cell per part the pairs compose, and
domination survives composition (Zhu, Dong, Wang 2022, Theorem 10). Both directions of adding and removing a record are
evaluated apart, and the larger delta counts.

What is proven here: the cover of the domain and what each cell states; then that the composed pairs are within the
claim, such as delta(epsilon - c) <= delta by the method named, c being the pure cost of released constants, which adds
to epsilon. That each mechanism loses as stated is the evidence it carries.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, product
from math import prod
from typing import Any, Final

from .. import intervals, shapes
from ..budget import Budget
from ..data import Data
from ..declared import hold_clones, hold_mechanism, hold_sampler, hold_sampler_of_strata
from ..domain import DOMAIN, Domain
from ..expressions import ORDER, WEIGHT, Pool, order_of, rounding
from ..intervals import Arithmetic, Interval, rational_of, upper_end
from ..profile import realised
from ..released import released_assumed
from ..statement import (
    PART,
    Assumed,
    accepted_numbers,
    cost_assumed,
    domain_assumed,
    hold_assumptions,
    norm_ranges,
    plugins_assumed,
    prove_not_negative,
    prove_rate,
)
from ..verdict import Refused, Verdict
from .batches import in_blocks
from .changes import MOST_RECORDS, ONE_RECORD, RELATIONS, by_changes, change_of, changed, joined
from .claims import CLAIMS, GROUPS, Composed
from .cover import Corner, prove_cover
from .factors import (
    DIRECTIONS,
    DISCRETE_GAUSSIAN,
    DISCRETE_LAPLACE,
    FAMILIES,
    PURE,
    RENYI,
    RESPONSE_OF_MANY,
    SHUFFLED,
    Bound,
    Change,
    Crowd,
    Factor,
    Lattice,
)
from .finite import MOST_CELLS, laplace, pure
from .strata import BY_STRATA, OF_EACH, STRATA, Layer, hold_strata, layers, strata_assumed
from .strategies import BY_STRATEGY, Moved, hold_correlated, moved, strategy_assumed, strategy_shape

_MOST_PARTS: Final = 10_000
_MOST_COMBINATIONS: Final = 64
_MOST_STEPS: Final = 2**53
_MOST_ORDERS: Final = 256
_MOST_USERS: Final = 2**40
_ARITHMETIC: Final = Arithmetic(192)

_DECLARED: Final = ("add-remove", "replace")
_LOSS: Final = {"parameter": shapes.anything, "relation": shapes.one_of(*_DECLARED)}
_ANYWHERE: Final = shapes.record(family=shapes.one_of(*FAMILIES), **_LOSS)
_ON_LATTICE: Final = shapes.record(
    family=shapes.one_of(DISCRETE_GAUSSIAN),
    **_LOSS,
    variance=shapes.positive,
    dimension=shapes.optional(shapes.integer(1, _MOST_STEPS)),
    spread=shapes.not_negative,
)
_CURVE: Final = shapes.record(family=shapes.one_of(RENYI), **_LOSS, orders=shapes.sequence(shapes.positive))
_STEPS: Final = shapes.record(family=shapes.one_of(DISCRETE_LAPLACE), **_LOSS, unit=shapes.positive)
_MANY: Final = shapes.record(family=shapes.one_of(RESPONSE_OF_MANY), **_LOSS, categories=shapes.integer(2, _MOST_STEPS))
_OTHERS: Final = {DISCRETE_GAUSSIAN: _ON_LATTICE, RENYI: _CURVE, DISCRETE_LAPLACE: _STEPS, RESPONSE_OF_MANY: _MANY}
_BESIDE: Final = {
    DISCRETE_GAUSSIAN: ("variance", "dimension"),
    DISCRETE_LAPLACE: ("unit",),
    RESPONSE_OF_MANY: ("categories",),
}
"""What is stated of a family beside its parameter, which follows from a mechanism's options as well."""


def _loss(value: Any, where: str) -> None:
    """Accept a family of pairs and its parameter."""
    family = value.get("family") if type(value) is dict else None
    (_OTHERS.get(family, _ANYWHERE) if type(family) is str else _ANYWHERE)(value, where)


_PART: Final = {
    "mechanism": PART,
    "sampler": PART,
    "loss": _loss,
    "rate": shapes.anything,
    "weighted": shapes.flag,
    "rounding": shapes.not_negative,
    "resample": shapes.one_of("once", "each"),
    "steps": shapes.integer(1, _MOST_STEPS),
    "cover": shapes.anything,
}
_EACH_APART: Final = shapes.record(**_PART)
_TOGETHER: Final = shapes.record(
    **_PART,
    batches=shapes.record(
        most=shapes.optional(shapes.integer(1, _MOST_STEPS)),
        data_size=shapes.optional(shapes.integer(1, _MOST_STEPS)),
        bounded=shapes.flag,
    ),
)
_EPOCH: Final = {
    "number": shapes.integer(1, _MOST_STEPS),
    "data_size": shapes.optional(shapes.integer(1, _MOST_STEPS)),
}
_IN_EPOCHS: Final = shapes.record(**_PART, batches=shapes.record(**_EPOCH))
_IN_BLOCKS: Final = shapes.record(
    **_PART, batches=shapes.record(**_EPOCH, participations=shapes.integer(2, _MOST_STEPS))
)
_ANSWERS: Final = shapes.record(
    **_PART, shuffled=shapes.record(users=shapes.integer(1, _MOST_USERS), clones=shapes.positive)
)
_CORRELATED: Final = shapes.record(**_PART, strategy=strategy_shape)
_STRATIFIED: Final = shapes.record(**{key: shape for key, shape in _PART.items() if key not in OF_EACH}, strata=STRATA)


def _part(value: Any, where: str) -> None:
    """Accept a part, which states strata, a strategy that correlates noise, shuffled answers or batches, if any."""
    keys = value.keys() if type(value) is dict else ()
    if "strata" in keys:
        _STRATIFIED(value, where)
        return
    if "strategy" in keys:
        _CORRELATED(value, where)
    elif "shuffled" in keys:
        _ANSWERS(value, where)
    elif "batches" in keys:
        stated = value["batches"].keys() if type(value["batches"]) is dict else ()
        of_epochs = _IN_BLOCKS if "participations" in stated else _IN_EPOCHS
        (of_epochs if "number" in stated else _TOGETHER)(value, where)
    else:
        _EACH_APART(value, where)


_PARTS: Final = shapes.sequence(_part)


_UNITS: Final = ("record", "element", "user")
_ELEMENTS: Final = ("each record of the matrix is one element", "one occurrence of a key")
_CONTRIBUTIONS: Final = "most records of one user"


def _hold_shape(body: dict[str, Any], kind: type[Composed]) -> None:
    """Hold the shape of a certificate of a kind; a claim about groups says how large they are."""
    claim = body.get("claim")
    of_users = type(claim) is dict and claim.get("unit") == "user"
    of_groups = kind.fields.keys() != {"rates"} and not of_users and type(claim) is dict and "group" in claim
    shape = shapes.record(
        format=shapes.text,
        kind=shapes.one_of(kind.kind),
        audience=shapes.one_of("public"),
        theorem=shapes.text,
        claim=shapes.record(
            unit=shapes.one_of(*_UNITS),
            relation=shapes.one_of(*RELATIONS),
            notion=shapes.one_of(kind.notion),
            domain=shapes.optional(DOMAIN),
            **kind.fields,
            **({"group": GROUPS} if of_groups else {}),
            **({"contributions": shapes.integer(1, MOST_RECORDS)} if of_users else {}),
        ),
        parts=_PARTS,
        released_cost=shapes.not_negative,
        method=shapes.anything,
        assumptions=shapes.sequence(shapes.record(name=shapes.text, value=shapes.text)),
        versions=shapes.mapping(shapes.text),
    )
    shape(body, "certificate")


def check_composed(body: dict[str, Any], data: Data | None, budget: Budget) -> Verdict:
    """Check a certificate of these kinds; it is never bound to data."""
    kind = CLAIMS[body["kind"]]
    _hold_shape(body, kind)
    parts, claim = body["parts"], body["claim"]
    if not 1 <= len(parts) <= _MOST_PARTS:
        raise Refused(f"parts must hold from 1 to {_MOST_PARTS} runs of releases")
    claimed = kind(claim, body["method"], Fraction(body["released_cost"]), budget)
    changes = [change_of(claim, part["loss"]["relation"], part.get("batches")) for part in parts]
    domain = None if claim["domain"] is None else Domain.of(claim["domain"])
    for number, (part, change) in enumerate(zip(parts, changes, strict=True)):
        hold_correlated(part, alone=change.records == 1)
        hold_strata(part, f"parts[{number}]", domain, claim)
    if body["theorem"] != claimed.theorem:
        raise Refused(f"the theorem of this method is {claimed.theorem!a}")
    if claimed.group > 1 and any(change.batches is not None and change.batches.one_step for change in changes):
        raise Refused("a number of records that one may be missing from says nothing about groups of them")
    layered = [list(layers(part, f"parts[{number}]", domain)) for number, part in enumerate(parts)]
    norms_matter = any(_uses_norms(one.part["loss"]["parameter"], one.part["rate"]) for one in chain(*layered))
    assumed = _hold_assumptions(body, claimed, domain, layered, norms_matter=norms_matter)
    if any(change != ONE_RECORD for change in changes) and body["released_cost"] != "0":
        raise Refused("what releasing constants costs is known about one record that is added or removed alone")
    corners = [
        list(dict.fromkeys(chain(*(joined(_prove_layer(one, budget), change) for one in each))))
        for each, change in zip(layered, changes, strict=True)
    ]
    moves = [None if "strategy" not in part else moved(part["strategy"], part["steps"], budget) for part in parts]
    for factors in _combinations(parts, corners, changes, moves, budget):
        for direction in DIRECTIONS:
            claimed.prove(factors, direction)
    by = by_changes(changes) + BY_STRATEGY * any(moves) + BY_STRATA * any("strata" in part for part in parts)
    return _accepted(body, claimed, domain, assumed, by, data)


def _prove_layer(layer: Layer, budget: Budget) -> list[Corner]:
    """Prove the premises of a part, or of one of its strata, and its cover."""
    part, where, domain = layer
    pool = Pool(budget)
    parameter = pool.parse(part["loss"]["parameter"], f"{where}.loss.parameter")
    rate = pool.parse(part["rate"], f"{where}.rate")
    parameters = _at_orders(pool, parameter, part["loss"], where)
    used = set[str]().union(*(pool.variables(root) for root in (*parameters, rate)))
    in_rate, unknown = pool.variables(rate), {v for v in used if order_of(v) is None}
    if WEIGHT in in_rate or not unknown <= {WEIGHT}:
        raise Refused(f"{where}: the rate may use norms alone, the loss norms and the weight")
    if domain is None and used - {WEIGHT}:
        raise Refused(f"{where} uses a norm of the record, and there is no domain")
    if part["loss"]["relation"] == "replace" and (rate != pool.constant(1) or part["weighted"]):
        raise Refused(f"{where}: of a loss about replaced records nothing but drawing every record is proven")
    if "batches" in part:
        _hold_batches(part, where)
    if "shuffled" in part:
        _hold_answers(part, where, used)
    others = [] if domain is None else domain.others(used)
    norms = norm_ranges(used, domain, others, _ARITHMETIC)
    _check_premises(pool, parameters, rate, norms, part["weighted"], where)
    if rate == pool.constant(0) or "batches" in part:
        drawn, weight = rate, pool.constant(1)  # a record that is never drawn has no weight, and places are exact
    else:
        drawn, weight = realised(pool, rate, part)
    spent = [pool.replace(root, {pool.variable(WEIGHT): weight}) for root in parameters]
    together = drawn
    for root in spent:
        together = pool.node("add", root, together)
    sides: dict[str, Interval] = {}
    if domain is not None:
        together, sides = domain.place(pool, together, _ARITHMETIC)
        for place in reversed(range(len(spent))):
            spent[place], together = pool.nodes[together].arguments
        drawn = together
    box = {rounding(of): intervals.UNIT for of in ("rate", "weight")} | sides
    is_curve = part["loss"]["family"] == RENYI
    return prove_cover(part["cover"], pool, spent, drawn, box, _ARITHMETIC, f"{where}.cover", is_curve=is_curve)


def _hold_batches(part: dict[str, Any], where: str) -> None:
    """Hold what batches drawn as a whole need: one rate, no weights, and a number of records that goes with them."""
    constant = type(part["rate"]) is list and part["rate"][:1] == ["constant"]
    if not constant or part["weighted"] or part["rounding"] != "0":
        raise Refused(f"{where}: of batches drawn as a whole nothing but one rate without weights is proven")
    rate = Fraction(part["rate"][1])
    if "number" in part["batches"]:
        number, entered = part["batches"]["number"], part["batches"].get("participations", 1)
        if entered > number or (entered > 1 and part["batches"]["data_size"] is not None):
            raise Refused(f"{where}.batches hold a record at most once each, and shuffled ones once in all")
        if rate != Fraction(entered, number) or part["steps"] % number or part["resample"] != "each":
            raise Refused(f"{where}.batches are those of whole epochs, with a rate of participations over their number")
        if (part["batches"]["data_size"] or 0) % number:
            raise Refused(f"{where}.batches must state a number of records that is a multiple of theirs")
        return
    most, size, bounded = (part["batches"][key] for key in ("most", "data_size", "bounded"))
    if most is None and (bounded or (size is not None and (rate * size).denominator != 1) or not rate):
        raise Refused(f"{where}.batches of a fixed size are a share of the number of records, which is not a bound")
    if most is not None and (size is None or most > size):
        raise Refused(f"{where}.batches must state the number of records, which is at least the largest batch")


def _hold_answers(part: dict[str, Any], where: str, used: set[str]) -> None:
    """Hold what shuffled answers need: every record answers, by one law for each value, with one pure loss."""
    loss = part["loss"]
    if loss["family"] != PURE or loss["relation"] != "replace" or part["rate"] != ["constant", "1"] or used:
        raise Refused(f"{where}: of shuffled answers nothing but one pure loss of all replaced records is known")
    if part["rounding"] != "0" or Fraction(part["shuffled"]["clones"]) > 1:
        raise Refused(f"{where}.shuffled must state a share of clones of at most 1, and nothing is rounded")


def _at_orders(pool: Pool, parameter: int, loss: dict[str, Any], where: str) -> list[int]:
    """Give the parameter, or of a curve its divergence at each of the orders stated."""
    if loss["family"] != RENYI:
        return [parameter]
    orders = [Fraction(order) for order in loss["orders"]]
    if not 1 <= len(orders) <= _MOST_ORDERS or orders != sorted(set(orders)) or orders[0] <= 1:
        raise Refused(f"{where}.loss.orders must be from 1 to {_MOST_ORDERS} growing numbers above 1")
    return [pool.replace(parameter, {pool.variable(ORDER): pool.constant(order)}) for order in orders]


def _check_premises(
    pool: Pool, parameters: Sequence[int], rate: int, norms: dict[str, Interval], weighted: bool, where: str
) -> None:
    """Prove that each parameter is defined and at least 0 at every weight from 1, and the rate within [0, 1]."""
    weight = intervals.FROM_ONE if weighted else Interval(intervals.ONE, intervals.ONE)
    box = {**norms, WEIGHT: weight}
    for parameter in parameters:
        prove_not_negative(pool, parameter, box, f"{where}.loss.parameter", _ARITHMETIC)
    prove_rate(pool, rate, box, f"{where}.rate", _ARITHMETIC)


def _combinations(
    parts: Sequence[dict[str, Any]],
    corners: Sequence[list[Corner]],
    changes: Sequence[Change],
    moves: Sequence[Moved | None],
    budget: Budget,
) -> Iterator[list[Factor]]:
    """Give the run about the records of every choice of one cell per part, without what loses nothing."""
    if prod(map(len, corners)) > _MOST_COMBINATIONS:
        raise Refused(f"the parts' cells combine in more than {_MOST_COMBINATIONS} ways")
    for choice in product(*corners):
        yield _added(
            changed(factor, of_block, budget)
            for part, corner, change, move in zip(parts, choice, changes, moves, strict=True)
            for factor, of_block in in_blocks(_factor(part, corner, move), change)
        )


def _added(factors: Iterable[Factor]) -> list[Factor]:
    """Add up the samples of equal releases, and leave out what loses nothing."""
    samples: Counter[Factor] = Counter()
    for factor in factors:
        if not factor.null:
            samples[factor._replace(samples=0)] += factor.samples
    return [factor._replace(samples=number) for factor, number in samples.items()]


def _factor(part: dict[str, Any], corner: Corner, move: Moved | None = None) -> Factor:
    steps = part["steps"]
    # short numbers above: what is lost grows with parameter and rate
    bounds, rate = tuple(map(_ARITHMETIC.above, corner.parameters)), _ARITHMETIC.above(corner.rate)
    if "batches" in part:
        rate = Fraction(part["rate"][1])  # how often batches are cut down is known of the rate itself
    # where every record is drawn, releases on one sample are as good as each on its own
    together, samples = (steps, 1) if part["resample"] == "once" and rate < 1 else (1, steps)
    loss, parameter = part["loss"], max(bounds)
    if "shuffled" in part:
        return _shuffled(part, parameter)
    if loss["family"] == RENYI:
        curve = tuple(map(Bound, map(Fraction, loss["orders"]), bounds))
        return Factor(RENYI, parameter, rate, together, samples, curve=curve)
    if loss["family"] == DISCRETE_LAPLACE:
        return _in_steps(int(parameter), Fraction(loss["unit"]), rate, together, samples)
    if loss["family"] == RESPONSE_OF_MANY:
        many = Factor(RESPONSE_OF_MANY, parameter, rate, together, samples, categories=loss["categories"])
        return many if together == 1 else pure(many)
    if loss["family"] != DISCRETE_GAUSSIAN:
        factor = Factor(loss["family"], parameter, rate, together, samples)
        return factor if move is None else move.of(factor)
    lattice = Lattice(Fraction(loss["variance"]), loss["dimension"], Fraction(loss["spread"]))
    if lattice.spread < 1:
        raise Refused("the spread of a loss must be at least 1")
    if lattice.dimension == 1:
        parameter = Fraction(int(parameter))  # of a record's contribution in steps the whole part counts
    deviations = _ARITHMETIC.sqrt(_ARITHMETIC.rational(parameter**2 / lattice.variance))
    return Factor(DISCRETE_GAUSSIAN, upper_end(deviations), rate, together, samples, lattice)


def _in_steps(steps: int, unit: Fraction, rate: Fraction, together: int, samples: int) -> Factor:
    """Give discrete Laplace noise that many whole steps apart, or noise that dominates it where no laws are listed."""
    parameter = _ARITHMETIC.above(steps * unit)
    factor = Factor(DISCRETE_LAPLACE, parameter, rate, together, samples, steps=steps)
    return factor if together == 1 and steps <= MOST_CELLS else laplace(factor)


def _shuffled(part: dict[str, Any], parameter: Fraction) -> Factor:
    """Give shuffled answers; several in one order are one of any randomiser with the sum of their losses."""
    users, clones, steps = part["shuffled"]["users"], Fraction(part["shuffled"]["clones"]), part["steps"]
    if part["resample"] == "each" or steps == 1:
        return Factor(SHUFFLED, parameter, Fraction(1), 1, steps, crowd=Crowd(users, clones))
    parameter = _ARITHMETIC.above(parameter * steps)
    rarest = rational_of(_ARITHMETIC.exp(_ARITHMETIC.rational(-parameter)).lo)
    return Factor(SHUFFLED, parameter, Fraction(1), 1, 1, crowd=Crowd(users, rarest))


def _uses_norms(*trees: Any) -> bool:
    """Whether a norm of the record occurs in expressions as a certificate writes them."""
    left: list[Any] = list(trees)
    while left:
        tree = left.pop()
        if type(tree) is list:
            if tree[:1] == ["norm"]:
                return True
            left.extend(tree)
    return False


def _hold_assumptions(
    body: dict[str, Any],
    claimed: Composed,
    domain: Domain | None,
    layered: Sequence[Sequence[Layer]],
    *,
    norms_matter: bool,
) -> Assumed:
    """Hold the assumptions against what the certificate rests on."""
    needed = dict(claimed.assumed)
    for number, (part, each) in enumerate(zip(body["parts"], layered, strict=True), 1):
        place = f"part {number}: "
        _hold_drawing(part, domain, body["claim"]["relation"])
        needed |= _size_assumed(part.get("batches"), place) | _answers_assumed(part, place)
        needed |= strategy_assumed(part, place) | strata_assumed(part, place) | plugins_assumed(part, place)
        loss = part["loss"]
        for layer in each:
            needed |= hold_mechanism(
                part["mechanism"],
                loss["parameter"],
                layer.part["rate"],
                families=(loss["family"],),
                beside=tuple(loss[key] for key in _BESIDE.get(loss["family"], ())),
                relation=loss["relation"],
                domain=domain,
            )
        way = "on one sample" if part["resample"] == "once" else "each on a fresh sample"
        needed[f"{place}releases"] = f"{part['steps']}, {way}"
        rounded = max((layer.part["rounding"] for layer in each), key=Fraction)
        needed |= cost_assumed(rounded, f"{place}relative rounding of probability and weight")
    _hold_sizes(body["parts"])
    needed |= _unit_assumed(body["claim"])
    needed |= domain_assumed(body["claim"]["domain"]) | cost_assumed(body["released_cost"])
    needed |= released_assumed(
        body["assumptions"],
        {f"part {number}: ": part for number, part in enumerate(body["parts"], 1)},
        domain=body["claim"]["domain"],
        norms_matter=norms_matter,
        cost=body["released_cost"] != "0",
    )
    return hold_assumptions(body, needed)


def _hold_drawing(part: dict[str, Any], domain: Domain | None, relation: str) -> None:
    """Hold the rate, or those of strata, against what the sampler named declares."""
    if "strata" in part:
        hold_sampler_of_strata(part["sampler"], part["strata"], part["weighted"], domain)
        return
    hold_sampler(
        part["sampler"],
        part["rate"],
        part["weighted"],
        domain,
        relation=relation,
        batches=part.get("batches"),
        users=part["shuffled"]["users"] if "shuffled" in part else None,
    )


def _answers_assumed(part: dict[str, Any], place: str) -> dict[str, str]:
    """Give what shuffled answers need stated: how many there are, and how like those of other values they are."""
    if "shuffled" not in part:
        return {}
    clones = part["shuffled"]["clones"]
    hold_clones(part["mechanism"], part["loss"]["parameter"], Fraction(clones))
    return {
        f"{place}least number of records": str(part["shuffled"]["users"]),
        f"{place}least share of answers that are clones": clones,
    }


def _size_assumed(batches: dict[str, Any] | None, place: str) -> dict[str, str]:
    """Give what batches drawn as a whole need stated about the number of records."""
    if batches is None or batches["data_size"] is None:
        return {}
    name = "largest number of records" if batches.get("bounded") else "number of records"
    return {f"{place}{name}": str(batches["data_size"])}


def _hold_sizes(parts: Sequence[dict[str, Any]]) -> None:
    """Hold what the parts assume of the number of records against one another: some data must be as all say."""
    least, most = [0], []
    for part in parts:
        batches, shuffled = part.get("batches"), part.get("shuffled")
        if batches is not None and batches["data_size"] is not None:
            most.append(batches["data_size"])
            least.append(0 if batches.get("bounded") else batches["data_size"])
        if shuffled is not None:
            least.append(shuffled["users"])
    if most and max(least) > min(most):
        raise Refused(f"no data have at least {max(least)} records and at most {min(most)}, as the parts assume")


def _unit_assumed(claim: dict[str, Any]) -> dict[str, str]:
    """Give what the unit needs stated about records."""
    if claim["unit"] == "user":
        return {_CONTRIBUTIONS: str(claim["contributions"])}
    return dict([_ELEMENTS]) if claim["unit"] == "element" else {}


def _whom(claim: dict[str, Any], group: int) -> str:
    """Say for whom a claim speaks."""
    if claim["unit"] == "user":
        return f"user of at most {claim['contributions']} records"
    return claim["unit"] if group == 1 else f"group of at most {group} {claim['unit']}s"


def _accepted(
    body: dict[str, Any],
    claimed: Composed,
    domain: Domain | None,
    assumed: Assumed,
    by: str,
    data: Data | None,
) -> Verdict:
    """Say for whom, against what change and by which method."""
    names = dict.fromkeys(ascii(part["mechanism"]["name"]) for part in body["parts"])
    steps = sum(part["steps"] for part in body["parts"])
    whom = _whom(body["claim"], claimed.group)
    over = f"every {whom}" if domain is None else f"every {whom} with {domain}"
    reason = (
        f"given the loss stated for mechanism {', '.join(names)}, {steps} release{'s' * (steps > 1)} "
        f"cost {over} at most what is claimed, by {claimed.method}{by}"
    )
    return accepted_numbers(
        body,
        body["parts"],
        reason,
        assumed,
        words=claimed.words,
        parameters=claimed.parameters,
        whom=whom,
        domain="every record" if domain is None else str(domain),
        data=data,
    )
