"""Laws of what a mechanism declares that a record costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...accounting.conversions import delta_at_order, delta_of_mu
from ...accounting.enclosures import Enclosure
from ...accounting.errors import InvalidType
from ...accounting.exact import Floats
from ...accounting.expressions import (
    ORDER,
    Constant,
    Expression,
    Rounded,
    W,
    derivative,
    evaluate,
    substitute,
    upper,
)
from ...accounting.pairs import Pair
from ...accounting.relations import Direction
from ...accounting.sampling.losses import Loss
from ...accounting.sampling.records import Features
from ..contract import Case, Finding
from .constants import Setup
from .divergences import (
    EPSILONS,
    ORDERS,
    PRECISION,
    Divergences,
    Row,
    divergences,
    first_above,
    first_apart,
    formatted,
    pair_at,
    point,
    reading,
)
from .law import Law, broken, kept
from .subjects import MechanismSubject

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_NOISE = ("scale", "noise")
_CLOSE = 1e-9
_BULK_ORDER = Fraction(4)
_BULK_DELTA = 2.0**-20
_SAMPLED, _SAMPLED_ORDER = "εδτ", Fraction(2)  # of a sampled pair other orders take long


def loss_of(setup: Setup) -> Loss:
    """What a mechanism declares.

    Raises:
        InvalidType: where that is no loss.
    """
    loss = setup.build().loss
    if not isinstance(loss, Loss):
        raise InvalidType("loss", loss, "a loss, such as PureLoss or GaussianLoss")
    return loss


def _cases(subject: MechanismSubject, **more: SearchStrategy[object]) -> SearchStrategy[Case]:
    """Constants, a record and what else a law asks for."""
    from hypothesis import strategies

    entry = strategies.integers(-64, 64).map(lambda count: count / 8)
    return strategies.fixed_dictionaries(
        {
            "constants": strategies.sampled_from(subject.setups),
            "record": strategies.lists(entry, min_size=1, max_size=3).map(tuple),
            **more,
        }
    )


def _weight() -> SearchStrategy[float]:
    from hypothesis import strategies

    return strategies.integers(0, 400).map(lambda count: 1 + count / 8)


def _two_weights(subject: MechanismSubject) -> SearchStrategy[Case]:
    return _cases(subject, weights=_ordered(_weight()))


def _ordered(numbers: SearchStrategy[Any]) -> SearchStrategy[object]:
    """Two numbers, none below the one before."""
    from hypothesis import strategies

    return strategies.tuples(numbers, numbers).map(lambda pair: tuple(sorted(pair)))


def _one_weight(subject: MechanismSubject) -> SearchStrategy[Case]:
    return _cases(subject, weight=_weight())


def _at(case: Case, weight: float) -> Divergences:
    return divergences(pair_at(loss_of(case["constants"]), case["record"], weight))


def _not_above(low: Divergences, high: Divergences, less: str, more: str) -> Finding:
    """Whether no divergence falls from the first to the second."""
    name = first_above(low, high)
    if name is None:
        return kept()
    return broken(f"{name} = {formatted(high[name])} at {more}", f"at least {formatted(low[name])}, as at {less}")


def _same(found: Divergences, wanted: Divergences, of: str) -> Finding:
    name = first_apart(found, wanted)
    if name is None:
        return kept()
    return broken(f"{name} = {formatted(found[name])} {of}", formatted(wanted[name]))


def _rises_with_weight(_: MechanismSubject, case: Case) -> Finding:
    low, high = case["weights"]
    return _not_above(_at(case, low), _at(case, high), f"weight {low}", f"weight {high}")


def _encloses(_: MechanismSubject, case: Case) -> Finding:
    """The pair of an interval of weights bounds the pair of each weight inside."""
    low, high = case["weights"]
    loss, record = loss_of(case["constants"]), case["record"]
    wide = divergences(loss.pair(reading(record, Enclosure.between(low, high, precision=PRECISION))))
    for weight in (low, (low + high) / 2, high):
        name = first_above(divergences(pair_at(loss, record, weight)), wide)
        if name is not None:
            inside = divergences(pair_at(loss, record, weight))[name]
            return broken(
                f"{name} = {formatted(wide[name])} for weights [{low}, {high}]",
                f"at least {formatted(inside)}, as at {weight}",
            )
    return kept()


def _noise_cases(subject: MechanismSubject) -> SearchStrategy[Case]:
    from hypothesis import strategies

    names = strategies.sampled_from(subject.options_named(*_NOISE))
    return _cases(subject, weight=_weight(), option=names)


def _falls_with_noise(_: MechanismSubject, case: Case) -> Finding:
    setup, option = case["constants"], case["option"]
    stated = setup.options.get(option)
    if stated is None:
        return kept("the option is not given")
    less = setup.changed(option, str(Fraction(stated) / 2))
    if less is None:
        return kept("half of the noise is not admissible")
    noisy = _at(case, case["weight"])
    quiet = divergences(pair_at(less.loss, case["record"], case["weight"]))
    return _not_above(noisy, quiet, f"{option}={stated}", f"{option}={Fraction(stated) / 2}")


def _counts(subject: MechanismSubject) -> SearchStrategy[Case]:
    from hypothesis import strategies

    return _cases(subject, weight=_weight(), releases=strategies.integers(1, 12))


def _adds_up(_: MechanismSubject, case: Case) -> Finding:
    """n releases cost n times as much, in each notion in which costs add up."""
    count = case["releases"]
    one = pair_at(loss_of(case["constants"]), case["record"], case["weight"])
    many = one.repeated(count)
    wanted = {name: value * count for name, value in divergences(one, "ετ").items()}
    found = divergences(many, "ετ")
    missing = sorted(set(wanted) - set(found))
    if missing:
        return broken(f"no {missing[0]} of {count} releases", f"{formatted(wanted[missing[0]])}")
    return _same(found, wanted, f"for {count} releases")


def _rates(subject: MechanismSubject) -> SearchStrategy[Case]:
    from hypothesis import strategies

    rate = strategies.integers(1, 64).map(lambda count: Fraction(count, 64)) | strategies.sampled_from(
        [Fraction(1, 2**20), Fraction(1, 2**60), Fraction(1)]
    )
    return _cases(subject, weight=_weight(), rates=_ordered(rate))


def _rises_with_rate(_: MechanismSubject, case: Case) -> Finding:
    """Sampling amplifies as the definition of a sampled pair has it, and less at larger rates."""
    low, high = case["rates"]
    pair = pair_at(loss_of(case["constants"]), case["record"], case["weight"])
    whole, rare, often = (divergences(law, _SAMPLED, (_SAMPLED_ORDER,)) for law in _at_rates(pair, (1, low, high)))
    rising = _not_above(rare, often, f"rate {low}", f"rate {high}")
    if not rising.holds:
        return rising
    bounded = _not_above(often, whole, f"rate {high}", "rate 1")
    if not bounded.holds:
        return bounded
    for direction in Direction:
        finding = _as_defined(pair, low, direction)
        if not finding.holds:
            return finding
    return _same(whole, divergences(pair, _SAMPLED, (_SAMPLED_ORDER,)), "at rate 1")


def _at_rates(pair: Pair, rates: Iterable[Fraction | int]) -> Iterator[Pair]:
    return (pair.sampled(point(rate)) for rate in rates)


def _as_defined(pair: Pair, rate: Fraction, direction: Direction) -> Finding:
    """Pure ε and δ after sampling are at least what the definition of a sampled pair makes of them."""
    sampled = pair.sampled(point(rate))
    if pair.pure is not None and sampled.pure is not None:
        wanted, found = _amplified(pair.pure(direction), rate, direction), sampled.pure(direction)
        if found.upper < wanted.lower:
            return broken(f"ε, {direction.value} = {formatted(found)} at rate {rate}", f"at least {formatted(wanted)}")
    if pair.delta is None or sampled.delta is None:
        return kept("no δ(ε)")
    for before in map(point, EPSILONS):
        after = _amplified(before, rate, direction)
        wanted = pair.delta(before, direction) * rate
        if direction is Direction.ADD:
            wanted = wanted * (after - before).exp()
        found = sampled.delta(after.maximum(0), direction)
        if found.upper < wanted.lower:
            details = f"δ({formatted(after)}), {direction.value} = {formatted(found)} at rate {rate}"
            return broken(details, f"at least {formatted(wanted)}")
    return kept()


def _amplified(epsilon: Enclosure, rate: Fraction, direction: Direction) -> Enclosure:
    """log(1 + q(e^ε − 1)), or −log(1 − q + q·e^−ε)."""
    if direction is Direction.REMOVE:
        return (epsilon.expm1() * rate).log1p()
    return -((-epsilon).exp() * rate + (1 - rate)).log()


def _falls_with_epsilon(_: MechanismSubject, case: Case) -> Finding:
    """δ(ε) is a probability that does not rise with ε; τ(α) does not fall with α."""
    found = _at(case, case["weight"])
    for direction in Direction:
        word = direction.value
        deltas = [found[name] for epsilon in EPSILONS if (name := f"δ({epsilon}), {word}") in found]
        taus = [found[name] for order in ORDERS if (name := f"τ({order}), {word}") in found]
        for word_of, falling in (("δ", deltas), ("τ", taus[::-1])):
            for one, other in pairwise(falling):
                if other.lower > one.upper:
                    return broken(
                        f"{word_of}, {word}: {formatted(one)}, then {formatted(other)}", "one that does not rise"
                    )
        if any(delta.lower > 1 for delta in deltas):
            return broken(f"δ(0), {word} = {formatted(deltas[0])}", "at most 1")
    return kept()


def _notions_agree(_: MechanismSubject, case: Case) -> Finding:
    """What follows from one law bounds what another says."""
    loss = loss_of(case["constants"])
    reader = reading(case["record"], point(case["weight"]))
    pair = loss.pair(reader)
    found = divergences(pair)
    profile = None if loss.pure is None else reader(loss.pure.epsilon)
    for direction in Direction:
        for name, value, bound, why in _consequences(pair, found, profile, direction):
            if value.lower > bound.upper:
                return broken(
                    f"{name}, {direction.value} = {formatted(value)}", f"at most {formatted(bound)}, as {why}"
                )
    return kept()


def _consequences(
    pair: Pair, found: Divergences, profile: Enclosure | None, direction: Direction
) -> list[tuple[str, Enclosure, Enclosure, str]]:
    """What is said, by what it is bounded, and why."""
    word, bounds = direction.value, []
    deltas = {epsilon: value for epsilon in EPSILONS if (value := found.get(f"δ({epsilon}), {word}")) is not None}
    taus = {order: value for order in ORDERS if (value := found.get(f"τ({order}), {word}")) is not None}
    pure, rho, mu = found.get(f"ε, {word}"), found.get("ρ"), found.get("μ")
    if profile is not None and pure is not None:
        bounds.append(("ε of the pair", pure, profile, "the pure loss says"))
    for source, most in (("the pair's ε", pure), ("the pure loss", profile)):
        if most is None:
            continue
        bounds.extend((f"τ({order})", tau, most, f"{source} implies") for order, tau in taus.items())
        if pair.delta is not None:
            level = point(most.upper)
            bounds.append((f"δ({formatted(most)})", pair.delta(level, direction), point(0), f"{source} implies"))
    if rho is not None:
        bounds.extend((f"τ({order})", tau, rho * order, "ρ implies") for order, tau in taus.items())
    for epsilon, delta in deltas.items():
        level = point(epsilon)
        bounds.extend(
            (f"δ({epsilon})", delta, delta_at_order(order, tau, level), f"τ({order}) implies")
            for order, tau in taus.items()
        )
        if mu is not None:
            bounds.append((f"δ({epsilon})", delta, delta_of_mu(mu, level), "μ implies"))
    return bounds


def _arithmetics_agree(_: MechanismSubject, case: Case) -> Finding:
    """Floats, enclosures and bulk bounds of one loss are the same number."""
    loss, record, weight = loss_of(case["constants"]), case["record"], case["weight"]
    features = Features(np.asarray([record]))
    for feature in loss.features:
        root = substitute(feature, {ORDER: Constant(Fraction(2))})
        finding = _one_number(root, record, weight, features)
        if not finding.holds:
            return finding
    return _bulk_agrees(loss, record, weight, features)


def _one_number(root: Expression, record: Row, weight: float, features: Features) -> Finding:
    truth = reading(record, point(weight))(root)
    estimate = float(evaluate(root, {W: weight, **{v: k.values[0] for v, k in features.rounded(root).items()}}))
    bound = float(_upper(root, weight, features)[0])
    room = _CLOSE * max(1.0, abs(truth.upper_float))
    if not truth.lower_float - room <= estimate <= truth.upper_float + room:
        return broken(f"{root} = {estimate!r} in floats", f"{formatted(truth)} by enclosures")
    if not truth.lower_float <= bound <= truth.upper_float + room:
        return broken(f"{root} ≤ {bound!r} in bulk", f"{formatted(truth)} by enclosures")
    return kept()


def _upper(root: Expression, weight: float, features: Features) -> Floats:
    known = {W: Rounded(np.asarray([weight]), 0, np.ones(1, dtype=np.bool_)), **features.rounded(root)}
    return upper(root, known, 1, lambda index: {**features.enclosures(index), W: point(weight)})


def _bulk_agrees(loss: Loss, record: Row, weight: float, features: Features) -> Finding:
    bulk = loss.bulk_pairs(lambda root: _upper(root, weight, features))
    if bulk is None:
        return kept("no bounds in bulk")
    pair = pair_at(loss, record, weight)
    for rate in (1.0, 0.25):
        sampled = pair.sampled(point(rate))
        if sampled.renyi is not None:
            found = float(bulk.renyi(np.asarray([rate]), _BULK_ORDER)[0])
            exact = max((sampled.renyi(_BULK_ORDER, direction) for direction in Direction), key=lambda tau: tau.lower)
            if not exact.lower_float <= found:
                return broken(
                    f"τ({_BULK_ORDER}) ≤ {found!r} in bulk at rate {rate}", f"{formatted(exact)} by enclosures"
                )
        if sampled.delta is not None:
            found = float(bulk.epsilon(np.asarray([rate]), 1, _BULK_DELTA)[0])
            if not np.isfinite(found):
                continue
            reached = max(sampled.delta(point(found), direction).lower for direction in Direction)
            if reached > Fraction(_BULK_DELTA):
                return broken(
                    f"ε ≤ {found!r} in bulk at δ = {_BULK_DELTA} and rate {rate}", f"δ there is {float(reached)!r}"
                )
    return kept()


def _derivative_agrees(_: MechanismSubject, case: Case) -> Finding:
    """The derivative in the weight encloses the difference quotient of every loss."""
    low, high = case["weights"]
    if low == high:
        return kept("one weight")
    record = case["record"]
    between = Enclosure.between(low, high, precision=PRECISION)
    for feature in loss_of(case["constants"]).features:
        root = substitute(feature, {ORDER: Constant(Fraction(2))})
        rise = reading(record, point(high))(root) - reading(record, point(low))(root)
        slope = reading(record, between)(derivative(root, W))
        quotient = rise / (Fraction(high) - Fraction(low))
        if quotient.lower > slope.upper or quotient.upper < slope.lower:
            return broken(
                f"derivative of {root} in W: {formatted(slope)}", f"difference quotient {formatted(quotient)}"
            )
    return kept()


def _no_noise(subject: MechanismSubject) -> str | None:
    if subject.options_named(*_NOISE):
        return None
    return "no option is named after the scale of its noise, such as scale, noise or noise_multiplier"


LAWS: tuple[Law[MechanismSubject], ...] = (
    Law(
        name="weight",
        says="a record that weighs more costs no less",
        cases=_two_weights,
        examine=_rises_with_weight,
    ),
    Law(
        name="noise",
        says="more noise costs no more",
        absence=_no_noise,
        cases=_noise_cases,
        examine=_falls_with_noise,
    ),
    Law(
        name="releases",
        says="n releases cost n times as much, in each notion in which costs add up",
        cases=_counts,
        examine=_adds_up,
    ),
    Law(
        name="rate",
        says="a sampled pair is amplified as its definition says; a larger rate costs no less",
        cases=_rates,
        examine=_rises_with_rate,
        most=12,
    ),
    Law(
        name="curves",
        says="δ(ε) does not rise with ε and is at most 1; τ(α) does not fall with α",
        cases=_one_weight,
        examine=_falls_with_epsilon,
    ),
    Law(
        name="notions",
        says="pure, approximate, Rényi, zero-concentrated and Gaussian laws do not contradict each other",
        cases=_one_weight,
        examine=_notions_agree,
    ),
    Law(
        name="arithmetic",
        says="floats, enclosures and bounds in bulk are the same numbers",
        cases=_one_weight,
        examine=_arithmetics_agree,
    ),
    Law(
        name="derivative",
        says="the derivative in the weight encloses every difference quotient",
        cases=_two_weights,
        examine=_derivative_agrees,
    ),
    Law(
        name="enclosure",
        says="the pair of an interval of weights bounds the pair of each weight inside",
        cases=_two_weights,
        examine=_encloses,
    ),
)
