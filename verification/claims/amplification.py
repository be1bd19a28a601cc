"""Claims of the amplification rows and of plans of releases, against exact mixtures of finite tables.

Legend: P and Q are the laws with a record drawn for certain and without it, q the rate, M = (1 − q)Q + qP; g' = e^ε'
is the rational number at which the sampled pair is asked for its δ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import floor
from typing import TYPE_CHECKING

from ...accounting.amplification import delta_after_sampling, renyi_after_sampling
from ...accounting.enclosures import Enclosure
from ...accounting.pairs import FinitePair, Sampled
from ...accounting.relations import Direction
from ...accounting.sampling.releases import Releases, ResampleEach, SampleOnce
from ...plugins.contract import Case, Claim, Expectation, Finding
from ..oracles import pairs as oracles
from .enclosed import PRECISION, agrees, enclosed, enclosed_log
from .finite import Law, Mechanism, Sample, greatest_ratio, hockey_stick, law, mixture, moment, poisson_sampled
from .pairs import Tables, directed, independent, ratios, table_cases

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_NARROW = Fraction(1, 2**120)
_NEARLY = Fraction(1, 2**80)
_ONE = Fraction(1)


def _tables(case: Case) -> Tables:
    return law(case["present"]), law(case["absent"])


def _mixed(tables: Tables, rate: Fraction) -> Tables:
    """Return the tables of the sampled mechanism."""
    present, absent = tables
    return mixture([(rate, present), (1 - rate, absent)]), absent


def _sampled(tables: Tables, rate: Fraction) -> Sampled:
    """The library's sampled pair: amplification theorems, not the mixture."""
    return Sampled(FinitePair(*tables, precision=PRECISION), enclosed(rate))


def _near(found: Enclosure, number: Fraction) -> bool:
    return found.contains(number) and found.width <= _NARROW


def _both(found: Sequence[object], exact: Sequence[object], *, holds: bool) -> Finding:
    told = [f"{direction.value}: {{}}" for direction in Direction]
    return Finding(
        holds=holds,
        closed_form="; ".join(map(str.format, told, map(str, found))),
        independent="; ".join(map(str.format, told, map(str, exact))),
    )


# One theorem per notion


def _examine_approximate(case: Case) -> Finding:
    """δ of the sampled pair, exactly that of the mixture."""
    tables, rate, factor = _tables(case), case["rate"], case["factor"]
    law = _sampled(tables, rate).delta
    found = [] if law is None else [law(enclosed_log(factor), direction) for direction in Direction]
    exact = [hockey_stick(*directed(_mixed(tables, rate), direction), factor) for direction in Direction]
    return _both(found, exact, holds=len(found) == len(exact) and all(map(_near, found, exact)))


def _examine_approximate_unreached(case: Case) -> Finding:
    """For adding δ' is 0 from e^−ε' = 1 − q on, also where rounding leaves open on which side of it ε' is."""
    tables, epsilon = _tables(case), enclosed(case["real_order"])
    edge = -(-epsilon).expm1()  # the rate at which ε' is reached; both ends are rates of their own
    asked = [(case["rate"] * Fraction(1023, 1024), None), (edge.lower, epsilon), (edge.upper, epsilon)]
    found = []
    for rate, at in asked:
        law = _sampled(tables, rate).delta
        assert law is not None
        found.append(law(enclosed_log(case["factor"] / (1 - rate)) if at is None else at, Direction.ADD))
    holds = all(delta.contains(0) and delta.width <= _NARROW for delta in found)
    return Finding(holds=holds, closed_form=", ".join(map(str, found)), independent="0")


def _examine_approximate_edge(case: Case) -> Finding:
    """Where rounding cannot tell on which side of −log(1 − q) ε' is, δ' is still enclosed.

    The law is δ = 1/2 at every ε, so that δ' = (1 − (1 − q)·e^ε')/2, and 0 from ε' = −log(1 − q) on. Asked for are
    ε' = 2P at q = 1, which is nearer to that edge than P bits can tell, and both ends with P bits of the edge of
    q = 1 − 2^−P.
    """
    bits, place = case["bits"], case["place"]
    half = Enclosure.of(Fraction(1, 2), precision=bits)
    edge = Enclosure.of(2, precision=bits).log() * bits
    gap, asked = {
        "certain": (Fraction(0), Fraction(2 * bits)),
        "below": (Fraction(1, 2**bits), edge.lower),
        "above": (Fraction(1, 2**bits), edge.upper),
    }[place]
    rate, epsilon = (Enclosure.of(value, precision=bits) for value in (1 - gap, asked))
    found = delta_after_sampling(lambda *_: half, rate, epsilon, Direction.ADD)
    exact = ((1 - Enclosure.of(asked, precision=4 * bits).exp() * gap) / 2).maximum(0)
    return Finding(
        holds=found.lower <= exact.upper and exact.lower <= found.upper and found.width <= exact.upper / 2**20,
        closed_form=f"δ' = {found} at ε' = {epsilon} and q = 1 − {float(gap):.3g}",
        independent=f"δ' = {exact}",
    )


def _examine_pure(case: Case) -> Finding:
    """The pure losses apart are bounds; each is reached where P/Q takes its largest value beside its least."""
    tables, rate = _tables(case), case["rate"]
    law = _sampled(tables, rate).pure
    found = [] if law is None else [law(direction).exp() for direction in Direction]
    mixed = _mixed(tables, rate)
    exact = [greatest_ratio(*directed(mixed, direction)) for direction in Direction]
    return _both(found, exact, holds=len(found) == len(exact) and all(map(agrees, found, exact)))


def _examine_renyi_integer(case: Case) -> Finding:
    """REMOVE is exact at integer orders; ADD is bounded."""
    tables, rate, order = _tables(case), case["rate"], case["order"]
    law = _sampled(tables, rate).renyi
    if law is None:
        return Finding(False, "no Rényi law", "the tables have no zeros")
    found = [(law(Fraction(order), direction) * (order - 1)).exp() for direction in Direction]
    exact = [moment(*directed(_mixed(tables, rate), direction), order) for direction in Direction]
    return _both(found, exact, holds=agrees(found[0], exact[0]) and found[1].contains(exact[1]))


def _examine_renyi_real(case: Case) -> Finding:
    """Both directions are bounded at real orders, REMOVE from below too."""
    tables, rate, order = _tables(case), case["rate"], case["real_order"]
    law = _sampled(tables, rate).renyi
    if law is None:
        return Finding(False, "no Rényi law", "the tables have no zeros")
    mixed = _mixed(tables, rate)
    found = [law(order, direction) for direction in Direction]
    direct = [oracles.finite_renyi(*directed(mixed, direction), order) for direction in Direction]
    room = oracles.CLOSE
    holds = all(f.lower - room <= d <= f.upper + room for f, d in zip(found, direct, strict=True))
    return _both(found, [f"{float(d):.12g}" for d in direct], holds=holds)


def _examine_renyi_stated(case: Case) -> Finding:
    """At every order both ends are those that the theorems state, whatever the pair, its rate or a range of rates."""
    tables, order, rates = _tables(case), Fraction(case["any_order"]), sorted(case["rates"])
    pair = FinitePair(*tables, precision=PRECISION)
    range_of_rates = Enclosure.between(*rates, precision=PRECISION)
    told, holds, law_of_pair = [], True, pair.renyi
    assert law_of_pair is not None
    for direction in Direction:
        found = renyi_after_sampling(law_of_pair, range_of_rates, order, direction)
        low, high = (_stated_renyi(tables, rate, order, direction) for rate in rates)
        told.append((found, low.hull(high)))
        holds &= _same_ends(found, low.hull(high))
    return _both([found for found, _ in told], [stated for _, stated in told], holds=holds)


def _stated_renyi(tables: Tables, rate: Fraction, order: Fraction, direction: Direction) -> Enclosure:
    """Bound from exact moments of the mixture.

    Chord and monotonicity for REMOVE, convexity in the rate and the second moment for ADD.
    """
    here, there = directed(tables, direction)
    if not rate:
        return enclosed(0)
    certain = sum(
        (enclosed(p / q).power(order) * q for p, q in zip(here, there, strict=True)), enclosed(0)
    )  # E_Q[(P/Q)^α]
    if rate == 1:
        return certain.log() / (order - 1)
    mixed = (certain * rate + (1 - rate)).log() / (order - 1)
    if direction is Direction.ADD:
        return mixed.minimum(_two_outcomes(enclosed(moment(*tables, 2)), rate, order) / (order - 1)).hull(0)
    below = floor(order)
    logs = [enclosed(moment(*_mixed(tables, rate), whole)).log() for whole in (below, below + 1)]
    if below == order:
        return logs[0] / (order - 1)
    chord = (logs[0] * (below + 1 - order) + logs[1] * (order - below)) / (order - 1)
    return mixed.minimum(chord).hull(logs[0] / (below - 1) if below > 1 else 0)


def _two_outcomes(second: Enclosure, rate: Fraction, order: Fraction) -> Enclosure:
    """The log-moment for ADD of P = (1, 0) and Q = (1/s, 1 − 1/s), whose second moment is s."""
    kept = 1 / second
    absent, present = (1 - enclosed(rate)).power(1 - order), (1 + (second - 1) * rate).power(1 - order)
    return ((1 - kept) * absent + kept * present).log()


def _same_ends(found: Enclosure, stated: Enclosure) -> bool:
    ends = (found.lower - stated.lower, found.upper - stated.upper)
    return all(abs(apart) <= _NEARLY * max(_ONE, stated.upper) for apart in ends)


def _examine_renyi_far(case: Case) -> Finding:
    """Where e^A, A = (α − 1)τ, or the order is beyond summing: log(1 − q + q·e^A) at most, A + α·log q at least.

    For ADD no more than the second moment, or the rate alone, allows.
    """
    order, log_moment, rising = case["far_order"], case["log_moment"], case["rising"]
    low, high = sorted(case["rates"])
    rates = Enclosure.between(low, high, precision=PRECISION)
    summed = order <= 4096 and log_moment < 2**60  # then a neighbouring order's moment is too large
    found, stated = [], []

    def renyi(a: Fraction, _: Direction) -> Enclosure:
        return enclosed(log_moment * (a / order if rising else 1)) / (a - 1)

    for direction in Direction:
        found.append(renyi_after_sampling(renyi, rates, order, direction) * (order - 1))
        most = _mixed_log_moment(log_moment, high)
        second = enclosed(log_moment * (2 / order if rising else 1))
        if direction is Direction.ADD and 0 < high < 1:
            most = most.minimum(
                _two_outcomes(second.exp(), high, order)
                if second.upper < 2**60
                else enclosed(1 - high).log() * (1 - order)
            )
        if low == 1:
            least = most
        elif low == 0 or direction is Direction.ADD or summed:
            least = enclosed(0)
        else:
            least = (enclosed(low).log() * order + log_moment).maximum(0)
        stated.append(most.hull(least))
    return _both(found, stated, holds=all(map(_same_ends, found, stated)))


def _mixed_log_moment(log_moment: Fraction, rate: Fraction) -> Enclosure:
    """Return the log moment after sampling, log(1 − q + q·e^A)."""
    q, exponent = enclosed(rate), enclosed(log_moment)
    return exponent + (q + (1 - q) * (-exponent).exp()).log() if rate else q


# Wrong rows, in their place


def _add_alone(law: Callable[[Fraction], Fraction], rate: Fraction, factor: Fraction) -> Fraction:
    """ADD without the factor e^{ε' − ε}: q·δ(ε) at e^{−ε'} = 1 − q + q·e^{−ε}."""
    kept = 1 - (1 - 1 / factor) / rate
    return rate * law(1 / kept) if kept > 0 else Fraction(0)


def _unamplified(law: Callable[[Fraction], Fraction], rate: Fraction, factor: Fraction) -> Fraction:
    """q·δ at the ε' that is asked for, instead of the ε that it amplifies to."""
    return rate * law(factor)


def _examine_wrong_row(
    case: Case,
    row: Callable[[Callable[[Fraction], Fraction], Fraction, Fraction], Fraction],
    direction: Direction,
) -> Finding:
    """Whether a row is the δ of the mixture."""
    tables, rate, factor = _tables(case), case["rate"], case["factor"]
    wrong = row(lambda own: hockey_stick(*directed(tables, direction), own), rate, factor) if rate else Fraction(0)
    exact = hockey_stick(*directed(_mixed(tables, rate), direction), factor)
    return Finding(wrong == exact, f"{direction.value}: δ' = {wrong}", f"{direction.value}: δ' = {exact}")


def _examine_unamplified(case: Case) -> Finding:
    return _examine_wrong_row(case, _unamplified, Direction.REMOVE)


def _examine_add_without_factor(case: Case) -> Finding:
    return _examine_wrong_row(case, _add_alone, Direction.ADD)


def _examine_remove_for_add(case: Case) -> Finding:
    """Whether REMOVE, which has the larger pure loss, also bounds δ in the other direction."""
    tables, rate, factor = _tables(case), case["rate"], case["factor"]
    remove, add = (hockey_stick(*directed(_mixed(tables, rate), direction), factor) for direction in Direction)
    return Finding(add <= remove, f"remove: δ' = {remove}", f"add: δ' = {add}")


# Plans of releases


def _once(tables: Tables, rate: Fraction, steps: int) -> Tables:
    """One sample, every release on it: a Poisson sample of the one record decides the law of all outputs."""
    present, absent = independent([tables] * steps)

    def released(sample: Sample) -> Law:
        return present if sample else absent

    return _with_and_without(released, rate)


def _each(tables: Tables, rate: Fraction, steps: int) -> Tables:
    """A fresh Poisson sample for each release."""

    def released(sample: Sample) -> Law:
        return tables[0] if sample else tables[1]

    return independent([_with_and_without(released, rate)] * steps)


def _with_and_without(mechanism: Mechanism, rate: Fraction) -> Tables:
    record = {0: rate}
    return poisson_sampled(mechanism, record, weighted=False), poisson_sampled(mechanism, {}, weighted=False)


def _planned(plan: Releases, tables: Tables, rate: Fraction, factor: Fraction) -> list[Enclosure]:
    law = plan.pair(FinitePair(*tables, precision=PRECISION), enclosed(rate)).delta
    return [] if law is None else [law(enclosed_log(factor), direction) for direction in Direction]


def _examine_plan(
    case: Case, plan: Callable[[int], Releases], run: Callable[[Tables, Fraction, int], Tables]
) -> Finding:
    """δ of a plan's pair, exactly that of all outputs of the run."""
    tables, rate, steps, factor = _tables(case), case["dyadic_rate"], case["steps"], case["factor"]
    found = _planned(plan(steps), tables, rate, factor)
    exact = [hockey_stick(*directed(run(tables, rate, steps), direction), factor) for direction in Direction]
    return _both(found, exact, holds=len(found) == len(exact) and all(map(_near, found, exact)))


def _examine_once(case: Case) -> Finding:
    return _examine_plan(case, SampleOnce, _once)


def _examine_each(case: Case) -> Finding:
    return _examine_plan(case, ResampleEach, _each)


def _examine_always(case: Case) -> Finding:
    """Where every record is drawn, both plans are one."""
    tables, steps, factor = _tables(case), case["steps"], case["factor"]
    once, each = (_planned(plan(steps), tables, _ONE, factor) for plan in (SampleOnce, ResampleEach))
    exact = [hockey_stick(*directed(independent([tables] * steps), direction), factor) for direction in Direction]
    holds = all(_near(a, c) and _near(b, c) for a, b, c in zip(once, each, exact, strict=True))
    return _both([*map("once {}, each {}".format, once, each)], exact, holds=holds)


def _examine_confused(
    case: Case, plan: Callable[[int], Releases], run: Callable[[Tables, Fraction, int], Tables]
) -> Finding:
    """Whether one plan's pair bounds the other plan's run, in either direction."""
    tables, rate, steps, factor = _tables(case), case["dyadic_rate"], case["steps"], case["factor"]
    found = _planned(plan(steps), tables, rate, factor)
    exact = [hockey_stick(*directed(run(tables, rate, steps), direction), factor) for direction in Direction]
    return _both(found, exact, holds=all(e <= f.upper for f, e in zip(found, exact, strict=True)))


def _examine_once_for_each(case: Case) -> Finding:
    return _examine_confused(case, SampleOnce, _each)


def _examine_each_for_once(case: Case) -> Finding:
    return _examine_confused(case, ResampleEach, _once)


# Two resampled releases with Laplace noise: which direction is worse depends on ε

_CELLS = 40
_SHIFT, _RATE = _ONE, Fraction(1, 2)


@cache
def _quantised() -> FinitePair:
    """Laplace laws of scale 1, 1 apart, seen through 40 cells between the centres: a post-processing of the output.

    Masses are rounded to multiples of 2^-60, the last one taking the rest.
    """
    ends = [None, *(_SHIFT * Fraction(i, _CELLS) for i in range(_CELLS + 1))]
    sides = []
    for centre in (_SHIFT, Fraction(0)):
        masses = [oracles.laplace_mass(low, high, centre) for low, high in pairwise(ends) if high is not None]
        rounded = [Fraction(round(mass * 2**60), 2**60) for mass in masses]
        sides.append((*rounded, 1 - sum(rounded, Fraction(0))))
    return FinitePair(*sides, precision=PRECISION)


@cache
def _laplace_deltas(epsilon: Fraction) -> tuple[list[Enclosure], list[float]]:
    """δ of two resampled releases in both directions: the library's, through cells, and the numerical one."""
    law = ResampleEach(2).pair(_quantised(), enclosed(_RATE)).delta
    found = [] if law is None else [law(enclosed(epsilon), direction) for direction in Direction]
    numerical = [
        oracles.twice_sampled_laplace_delta(
            float(_SHIFT), float(_RATE), float(epsilon), remove=direction is Direction.REMOVE
        )
        for direction in Direction
    ]
    return found, numerical


def _examine_laplace_directions(case: Case) -> Finding:
    """The library's δ agree with the convolution, and the worse direction is the one stated."""
    epsilon, worse = case["epsilon_and_worse"]
    found, numerical = _laplace_deltas(epsilon)
    close = all(abs(float(f.upper) - n) <= n / 500 for f, n in zip(found, numerical, strict=True))
    order = found if worse is Direction.REMOVE else found[::-1]
    return _both(found, numerical, holds=close and order[0].lower > order[1].upper)


def _examine_laplace_remove_alone(case: Case) -> Finding:
    """Whether REMOVE alone bounds two resampled releases with Laplace noise."""
    found, numerical = _laplace_deltas(case["epsilon_and_worse"][0])
    return Finding(
        holds=max(numerical) <= float(found[0].upper) * 1.002,
        closed_form=f"remove: δ = {found[0]}",
        independent=f"both directions: δ = {max(numerical)}",
    )


# Cases


def _cases_of(least: int) -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    def joined(drawn: tuple[Case, Fraction, Fraction, Fraction, int]) -> Case:
        case, rate, dyadic, order, steps = drawn
        return {**case, "rate": rate, "dyadic_rate": dyadic, "real_order": order, "steps": steps}

    rates, dyadic = ratios(0, 1, denominator=12), st.sampled_from([Fraction(n, 16) for n in range(17)])
    orders = st.sampled_from([Fraction(n, 8) for n in range(9, 49)])
    return st.tuples(table_cases(least=least), rates, dyadic, orders, st.integers(1, 3)).map(joined)


def _positive_cases() -> SearchStrategy[Case]:
    return _cases_of(1)


def _single_rate_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    order = st.integers(9, 40).map(lambda n: Fraction(n, 8)).filter(lambda order: order.denominator > 1)
    drawn = st.fixed_dictionaries({"rates": _inner_rates().map(lambda q: (q, q)), "any_order": order})
    return st.tuples(_cases_of(1), drawn).map(lambda both: {**both[0], **both[1]})


def _ranged_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    ends = st.sampled_from([(Fraction(0), _ONE), (_ONE, _ONE), (Fraction(0), Fraction(0))])
    rates = ends | st.tuples(_inner_rates(), st.sampled_from([Fraction(0), _ONE]) | _inner_rates())
    order = st.integers(2, 6) | st.integers(9, 40).map(lambda n: Fraction(n, 8))
    drawn = st.fixed_dictionaries({"rates": rates, "any_order": order})
    return st.tuples(_cases_of(1), drawn).map(lambda both: {**both[0], **both[1]})


def _inner_rates() -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.integers(1, 11).map(lambda n: Fraction(n, 12))


def _far_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    far = st.tuples(st.sampled_from([Fraction(4097), Fraction(8193, 2)]), st.integers(0, 300) | st.integers(0, 10**5))
    large = st.tuples(st.sampled_from([Fraction(2), Fraction(7, 2), Fraction(4096)]), st.integers(2**60, 2**61))
    ends = st.sampled_from([(Fraction(0), _ONE), (_ONE, _ONE), (Fraction(0), Fraction(0))])
    inner = _inner_rates().map(lambda q: (q, q)) | st.tuples(_inner_rates(), st.just(_ONE))
    rate = inner | inner | ends
    drawn = st.tuples(far | large, rate).map(lambda d: (*d, False))
    between = st.tuples(st.just((Fraction(7, 2), 2**60 - 1)), rate, st.just(True))  # at 4 it is beyond
    return (drawn | between).map(
        lambda d: {"far_order": d[0][0], "log_moment": Fraction(d[0][1]), "rates": d[1], "rising": d[2]}
    )


def _edge_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    places = st.sampled_from(["certain", "below", "above"])
    return st.fixed_dictionaries({"bits": st.integers(24, 256), "place": places})


def _often_drawn_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    near_one = st.sampled_from([Fraction(n, 8) for n in range(8, 13)])
    drawn = st.fixed_dictionaries({"rate": st.sampled_from([_ONE, Fraction(3, 4)]), "factor": near_one})
    return st.tuples(_cases_of(1), drawn).map(lambda both: {**both[0], **both[1]})


def _zero_cases() -> SearchStrategy[Case]:
    return _cases_of(0)


def _laplace_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    known = [(Fraction(1, 2), Direction.REMOVE), (Fraction(1, 5), Direction.ADD)]
    return st.fixed_dictionaries({"epsilon_and_worse": st.sampled_from(known)})


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="amplification/approximate",
        statement="Balle, Barthe, Gaboardi 2018, Theorem 2",
        says="δ of the sampled pair is exact: q·δ(ε) for removing, q·e^{ε'−ε}·δ(ε) for adding, each at its own ε",
        cases=_zero_cases,
        examine=_examine_approximate,
    ),
    Claim(
        id="amplification/approximate-unreached",
        statement="Balle, Barthe, Gaboardi 2018, Theorem 2",
        says="δ for adding is 0 from e^−ε' = 1 − q on",
        cases=_positive_cases,
        examine=_examine_approximate_unreached,
    ),
    Claim(
        id="amplification/approximate-edge",
        statement="Balle, Barthe, Gaboardi 2018, Theorem 2",
        says="δ for adding is enclosed where ε' and −log(1 − q) are too close to be told apart",
        cases=_edge_cases,
        examine=_examine_approximate_edge,
    ),
    Claim(
        id="amplification/pure",
        statement="IS Theorem 6",
        says="the pure losses of the sampled pair are those of the mixture, in both directions",
        cases=_positive_cases,
        examine=_examine_pure,
    ),
    Claim(
        id="amplification/renyi-integer-orders",
        statement="Zhu, Wang 2019, Theorem 5",
        says="the Rényi moment for removing is the binomial sum, exactly; for adding it is bounded",
        cases=_positive_cases,
        examine=_examine_renyi_integer,
    ),
    Claim(
        id="amplification/renyi-real-orders",
        statement="van Erven, Harremoës 2014, Theorem 3 and Corollary 2",
        says="between integer orders chord and monotonicity enclose the divergence; for adding it is bounded",
        cases=_positive_cases,
        examine=_examine_renyi_real,
    ),
    Claim(
        id="amplification/renyi-stated-ends",
        statement="van Erven, Harremoës 2014, Theorem 3 and Corollary 2",
        says="between integer orders both ends are the theorems' own: nothing is lost on the way",
        cases=_single_rate_cases,
        examine=_examine_renyi_stated,
    ),
    Claim(
        id="amplification/renyi-rates",
        statement="less sampling is post-processing of more",
        says="over a range of rates, also from 0 and to 1, the ends are those at the ends of the range",
        cases=_ranged_cases,
        examine=_examine_renyi_stated,
    ),
    Claim(
        id="amplification/renyi-beyond-sums",
        statement="convexity of the moment in the rate",
        says="at orders and moments too large for sums, the ends are those of log(1 − q + q·e^A) and q^α·e^A",
        cases=_far_cases,
        examine=_examine_renyi_far,
    ),
    Claim(
        id="amplification/unamplified-epsilon",
        statement="a wrong law",
        says="δ for removing is q·δ at the ε' asked for",
        cases=_zero_cases,
        examine=_examine_unamplified,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="amplification/add-without-factor",
        statement="a wrong law",
        says="δ for adding is q·δ(ε), without the factor e^{ε'−ε}",
        cases=_zero_cases,
        examine=_examine_add_without_factor,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="amplification/remove-for-add",
        statement="a wrong law",
        says="δ for removing bounds δ for adding",
        cases=_often_drawn_cases,
        examine=_examine_remove_for_add,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="amplification/sample-once",
        statement="one sample, T releases on it",
        says="composed first and amplified once, δ is that of all outputs of the run",
        cases=_positive_cases,
        examine=_examine_once,
    ),
    Claim(
        id="amplification/resample-each",
        statement="T releases, each on a fresh sample",
        says="amplified first and composed afterwards, δ is that of all outputs of the run",
        cases=_positive_cases,
        examine=_examine_each,
    ),
    Claim(
        id="amplification/every-record-drawn",
        statement="T releases on all records",
        says="at q = 1 both plans are one",
        cases=_positive_cases,
        examine=_examine_always,
    ),
    Claim(
        id="amplification/once-for-each",
        statement="a wrong law",
        says="the pair of one sample for all releases bounds a run that samples afresh",
        cases=_positive_cases,
        examine=_examine_once_for_each,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="amplification/each-for-once",
        statement="a wrong law",
        says="the pair of a fresh sample per release bounds a run on one sample",
        cases=_positive_cases,
        examine=_examine_each_for_once,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="amplification/worse-direction",
        statement="Laplace noise of scale 1, q = 1/2, two resampled releases",
        says="removing dominates at ε = 0.5, adding at ε = 0.2",
        cases=_laplace_cases,
        examine=_examine_laplace_directions,
    ),
    Claim(
        id="amplification/remove-alone",
        statement="a wrong law",
        says="removing alone bounds two resampled releases with Laplace noise",
        cases=_laplace_cases,
        examine=_examine_laplace_remove_alone,
        expectation=Expectation.REJECTED,
    ),
)
