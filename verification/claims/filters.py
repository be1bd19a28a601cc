"""Claims of privacy filters and odometers, on finite runs whose next mechanism is chosen by the outputs so far.

A run is a tree: at each node a mechanism of a menu is asked for, the filter of the path admits or refuses its cost, and
a refusal ends the path. The laws of the whole transcript on two neighbouring data sets are exact fractions. The
negative controls account for the mechanisms that came as if they had been fixed beforehand.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from attrs import frozen

from ...accounting.conversions import delta_of_mu, epsilon_at_order
from ...accounting.enclosures import Enclosure
from ...accounting.filters import (
    ApproximateFilter,
    BudgetExceeded,
    Filter,
    GaussianFilter,
    PureFilter,
    PureOdometer,
    RenyiFilter,
    RenyiOdometer,
    ZeroConcentratedFilter,
)
from ...accounting.guarantees import Guarantee
from ...accounting.notions import Bound, GaussianDP, Pure, ZeroConcentrated
from ...accounting.pairs import RandomisedResponsePair
from ...accounting.relations import ADD_REMOVE, RECORD, AddRemove, Record
from ...accounting.units import Delta, Order
from ...plugins.contract import Case, Claim, Expectation, Finding
from .enclosed import enclosed_log
from .finite import Law, hockey_stick, indistinguishability, law, leak, randomised_response
from .notions import approximate, guaranteed, renyi, worst_moment

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

B = TypeVar("B", bound=Bound)

Laws: TypeAlias = tuple[Law, Law]
"""The laws of one output with and without the record."""

_OUTPUTS, _STEPS = 2, 3
_NODES = (_OUTPUTS**_STEPS - 1) // (_OUTPUTS - 1)
_ORDERS = (2, 3, 5, 9)
_PRECISION = 128


@frozen
class _Node:
    """A place in the tree of a run.

    Attributes:
        index: 0 at the root; its children follow at 2·index + 1 and 2·index + 2.
        here: the probability of coming there with the record.
        there: the same without it.
        paid: the mechanisms asked on the way, by their number in the menu.
        loss: the outputs on the way, as (mechanism, output).
    """

    index: int
    here: Fraction
    there: Fraction
    paid: tuple[int, ...]
    outputs: tuple[tuple[int, int], ...] = ()


def _menu(case: Case) -> list[Laws]:
    return [(law(here), law(there)) for here, there in case["menu"]]


def _leaves(case: Case, menu: Sequence[Laws], admits: Callable[[tuple[int, ...]], bool]) -> Iterator[_Node]:
    """The ends of all paths; a path goes on while `admits` accepts the mechanisms on it."""
    pending = [_Node(0, Fraction(1), Fraction(1), ())]
    while pending:
        node = pending.pop()
        if node.index >= _NODES or not admits(asked := (*node.paid, case["choices"][node.index])):
            yield node
            continue
        chosen = asked[-1]
        for output, (p, q) in enumerate(zip(*menu[chosen], strict=True)):
            pending.append(
                _Node(
                    _OUTPUTS * node.index + 1 + output,
                    node.here * p,
                    node.there * q,
                    asked,
                    (*node.outputs, (chosen, output)),
                )
            )


def _transcripts(case: Case, menu: Sequence[Laws], admits: Callable[[tuple[int, ...]], bool]) -> Laws:
    leaves = list(_leaves(case, menu, admits))
    return tuple(leaf.here for leaf in leaves), tuple(leaf.there for leaf in leaves)


def _admitting(
    filter_: Callable[[], Filter[B, AddRemove, Record]], costs: Sequence[Guarantee[B, AddRemove, Record]]
) -> Callable[[tuple[int, ...]], bool]:
    """Whether a filter of the path admits all mechanisms on it."""

    def admits(asked: tuple[int, ...]) -> bool:
        account = filter_()
        try:
            for mechanism in asked:
                account.spend(costs[mechanism])
        except BudgetExceeded:
            return False
        return True

    return admits


def _described(leaves: Laws) -> str:
    return f"a run with {len(leaves[0])} transcripts"


# Filters


def _examine_pure(case: Case) -> Finding:
    """No transcript's probabilities differ by more than the budget; with room for all, the path admitted is whole."""
    menu = _menu(case)
    factors = [indistinguishability(*laws) for laws in menu]
    budget = Pure(enclosed_log(case["budget"]))
    costs = [guaranteed(Pure(enclosed_log(factor))) for factor in factors]
    admits = _admitting(lambda: PureFilter(budget, relation=ADD_REMOVE, unit=RECORD), costs)
    run = _transcripts(case, menu, admits)
    direct = indistinguishability(*run)
    most = max(factors) ** _STEPS
    complete = len(run[0]) == _OUTPUTS**_STEPS
    return Finding(
        holds=direct <= budget.epsilon.exp().upper and (complete or most >= case["budget"]),
        closed_form=f"{budget} for {_described(run)}",
        independent=f"the largest ratio of their probabilities is {direct}",
    )


def _examine_renyi(case: Case) -> Finding:
    """The moment of the transcripts stays within the budget at the order fixed beforehand."""
    menu, order = _menu(case), case["order"]
    budget = renyi(order, case["budget"])
    costs = [guaranteed(renyi(order, worst_moment(*laws, order))) for laws in menu]
    run = _transcripts(case, menu, _admitting(lambda: RenyiFilter(budget, relation=ADD_REMOVE, unit=RECORD), costs))
    direct = worst_moment(*run, order)
    return Finding(
        holds=direct <= (budget.tau * (order - 1)).exp().upper,
        closed_form=f"{budget} for {_described(run)}",
        independent=f"their moment of that order is {direct}",
    )


def _responses(menu: Iterable[Laws]) -> list[RandomisedResponsePair]:
    """Randomised response with the pure loss of each mechanism, which dominates it."""
    return [RandomisedResponsePair(enclosed_log(indistinguishability(*laws))) for laws in menu]


def _examine_zero_concentrated(case: Case) -> Finding:
    """The moments of the transcripts stay within ρα at every order at once."""
    menu = _menu(case)
    budget = ZeroConcentrated(enclosed_log(case["budget"]) / 4)
    costs = [guaranteed(ZeroConcentrated(pair.zero_concentrated)) for pair in _responses(menu)]
    admits = _admitting(lambda: ZeroConcentratedFilter(budget, relation=ADD_REMOVE, unit=RECORD), costs)
    run = _transcripts(case, menu, admits)
    moments = {order: worst_moment(*run, order) for order in _ORDERS}
    return Finding(
        holds=all(m <= (budget.rho * (order * (order - 1))).exp().upper for order, m in moments.items()),
        closed_form=f"{budget} for {_described(run)}",
        independent=f"moments by order: { {order: float(m) for order, m in moments.items()} }",
    )


@lru_cache(maxsize=4096)
def _mu(factor: Fraction) -> Enclosure:
    return RandomisedResponsePair(enclosed_log(factor)).gaussian


def _examine_gaussian(case: Case) -> Finding:
    """The hockey-stick divergences of the transcripts are below those of two normal laws."""
    menu, factor = _menu(case), case["factor"]
    budget = GaussianDP(enclosed_log(case["budget"]))
    costs = [guaranteed(GaussianDP(_mu(indistinguishability(*laws)))) for laws in menu]
    run = _transcripts(case, menu, _admitting(lambda: GaussianFilter(budget, relation=ADD_REMOVE, unit=RECORD), costs))
    allowed, direct = delta_of_mu(budget.mu, enclosed_log(factor)), leak(*run, factor)
    return Finding(
        holds=direct <= allowed.upper,
        closed_form=f"{budget}: δ = {allowed} at e^ε = {factor} for {_described(run)}",
        independent=f"their δ there is {direct}",
    )


def _examine_approximate(case: Case) -> Finding:
    """The δ of the transcripts at the budget's ε stays within its δ, by sums and with a part of δ set aside."""
    menu, own = _menu(case), case["factor"]
    budget = approximate(case["budget"], case["delta"])
    costs = [guaranteed(approximate(own, leak(*laws, own))) for laws in menu]
    found = []
    for share in (Fraction(0), case["share"]):
        aside = Delta(case["delta"] * share)

        def account(aside: Delta = aside) -> ApproximateFilter[AddRemove, Record]:
            return ApproximateFilter(budget, relation=ADD_REMOVE, unit=RECORD, set_aside=aside)

        run = _transcripts(case, menu, _admitting(account, costs))
        found.append((_described(run), leak(*run, budget.epsilon.exp().upper)))
    return Finding(
        holds=all(direct <= budget.delta.upper for _, direct in found),
        closed_form=f"{budget} for {found[0][0]}, and for {found[1][0]} with {case['share']} of δ set aside",
        independent=f"their δ there is {found[0][1]}, and {found[1][1]}",
    )


# Odometers


def _examine_odometer(case: Case) -> Finding:
    """The probability that the realised loss ever passes its reading, on the longest run, in both directions."""
    menu, delta, orders = _menu(case), case["delta"], (2, 5)
    costs = [[guaranteed(renyi(order, worst_moment(*laws, order))) for order in orders] for laws in menu]
    certain = [guaranteed(Pure(enclosed_log(indistinguishability(*laws)))) for laws in menu]
    passed = [Fraction(0), Fraction(0)]
    surely = True
    for leaf in _leaves(case, menu, lambda asked: True):
        odometer = RenyiOdometer([Order(o) for o in orders], Delta(delta), relation=ADD_REMOVE, unit=RECORD)
        sums = PureOdometer(relation=ADD_REMOVE, unit=RECORD)
        ratio, beyond = Fraction(1), [False, False]
        for chosen, output in leaf.outputs:
            p, q = menu[chosen][0][output], menu[chosen][1][output]
            ratio *= p / q
            limit = odometer.charge(*costs[chosen]).loss.exp().upper
            beyond = [beyond[0] or ratio > limit, beyond[1] or 1 / ratio > limit]
            surely = surely and max(ratio, 1 / ratio) <= sums.charge(certain[chosen]).loss.exp().upper
        passed[0] += leaf.here if beyond[0] else 0
        passed[1] += leaf.there if beyond[1] else 0
    return Finding(
        holds=surely and max(passed) <= delta,
        closed_form=f"the loss passes its reading with probability at most {delta}, and never that of pure losses",
        independent=f"it does with probability {passed[0]} and {passed[1]}; within the pure ones: {surely}",
    )


# Negative controls: accounting afterwards for what came


@frozen
class _Target:
    """What every path of a run is to stay within.

    Attributes:
        first: the mechanism that every run begins with.
        factor: e^ε.
        delta: δ.
    """

    first: Laws
    factor: Fraction
    delta: Fraction


Rule: TypeAlias = Callable[[_Target, Sequence[Laws]], list[Laws]]
"""Which second mechanisms are admitted after the first."""


def _realised(target: _Target, menu: Sequence[Laws]) -> list[Laws]:
    """A wrong rule: those whose loss distributions compose to (ε, δ) with that of the first."""

    def leaks(second: Laws) -> Fraction:
        here, there = (tuple(p * q for p, q in product(a, b)) for a, b in zip(target.first, second, strict=True))
        return leak(here, there, target.factor)

    return [second for second in menu if leaks(second) <= target.delta]


def _at_order(target: _Target, menu: Sequence[Laws], order: int) -> list[Laws]:
    """Return the second mechanisms whose moments of one order prove (ε, δ) with the first: a valid filter."""

    def total(second: Laws) -> Fraction:
        return worst_moment(*target.first, order) * worst_moment(*second, order)

    def beyond(second: Laws) -> bool:
        tau = enclosed_log(total(second)) / (order - 1)
        found = epsilon_at_order(Fraction(order), tau, Enclosure.of(target.delta, precision=_PRECISION))
        return found.exp().upper > target.factor

    rising = sorted(menu, key=total)
    return rising[: bisect_left(rising, True, key=beyond)]


_ORDERS_KEPT = (2, 8)


def _best_of_orders(target: _Target, menu: Sequence[Laws]) -> list[Laws]:
    """A wrong rule: those for which the better of two orders, picked once both mechanisms are known, gives (ε, δ)."""
    return [second for order in _ORDERS_KEPT for second in _at_order(target, menu, order)]


def _adversary(target: _Target, admitted: Sequence[Laws]) -> tuple[Fraction, list[Laws]]:
    """The δ at e^ε of the run that asks, after each first output, for the admitted mechanism that leaks most."""
    total, chosen = Fraction(0), []
    for p, q in zip(*target.first, strict=True):

        def leaks(second: Laws, p: Fraction = p, q: Fraction = q) -> Fraction:
            return hockey_stick(tuple(p * x for x in second[0]), tuple(q * y for y in second[1]), target.factor)

        worst = max(admitted, key=leaks)
        total += leaks(worst)
        chosen.append(worst)
    return total, chosen


def _formatted_laws(chosen: Sequence[Laws]) -> str:
    """Each mechanism by its probabilities with the record and without."""
    laws = (" against ".join(f"({', '.join(map(str, law))})" for law in pair) for pair in chosen)
    return " and ".join(laws)


def _leaking_once(share: Fraction, factor: Fraction) -> Laws:
    """One output has the probability `share`, and `factor` times less without the record."""
    return (share, 1 - share), (share / factor, 1 - share / factor)


_NOTHING: Laws = (Fraction(1),), (Fraction(1),)


def _examine_control(case: Case, rule: Rule) -> Finding:
    """Whether a run whose every path is admitted is (ε, δ)-DP."""
    target = _Target(randomised_response(case["first"]), case["factor"], case["delta"])
    shares = [target.delta * target.factor * step / 8 for step in range(2, 24)]
    heights = [target.factor * height for height in (Fraction(17, 16), Fraction(9, 8), Fraction(5, 4), Fraction(2))]
    menu = [_leaking_once(share, height) for share, height in product(shares, heights) if share < 1]
    admitted = rule(target, [_NOTHING, *menu])
    if not admitted:
        return Finding(holds=True, closed_form="the first mechanism is refused", independent="nothing is released")
    direct, chosen = _adversary(target, admitted)
    return Finding(
        holds=direct <= target.delta,
        closed_form=f"δ = {target.delta} at e^ε = {target.factor} on each path, after randomised response",
        independent=f"the run leaks {direct} there, that is {float(direct):.6g}, "
        f"by asking for {_formatted_laws(chosen)} after the two outputs",
    )


# Cases


def _runs(**others: SearchStrategy[Any]) -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    row = st.tuples(*[st.integers(1, 9)] * _OUTPUTS)
    mechanism = st.tuples(row, row)
    return st.fixed_dictionaries(
        {
            "menu": st.tuples(*[mechanism] * 3),
            "choices": st.tuples(*[st.integers(0, 2)] * _NODES),
            "budget": st.fractions(Fraction(11, 10), 60, max_denominator=20),
            **others,
        }
    )


def _pure_cases() -> SearchStrategy[Case]:
    return _runs()


def _renyi_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return _runs(order=st.integers(2, 6))


def _gaussian_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return _runs(factor=st.fractions(1, 20, max_denominator=10))


def _approximate_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return _runs(
        budget=st.fractions(Fraction(11, 10), 4, max_denominator=10),
        factor=st.fractions(1, 2, max_denominator=10),
        delta=st.sampled_from([Fraction(1, 20), Fraction(1, 4), Fraction(3, 4)]),
        share=st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(1)]),
    )


def _odometer_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return _runs(delta=st.sampled_from([Fraction(1, 50), Fraction(1, 5), Fraction(1, 2)]))


def _control_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "first": st.integers(1, 2).map(lambda n: 1 + Fraction(n, 16)),
            "factor": st.integers(4, 16).map(lambda n: 1 + Fraction(n, 8)),
            "delta": st.sampled_from([Fraction(1, n) for n in (5, 8, 10, 20, 40)]),
        }
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="accounting/filter-pure",
        statement="Rogers, Roth, Ullman, Vadhan 2016, filter by sums",
        says="while the pure losses chosen by earlier outputs sum to ε at most, the run is ε-DP",
        cases=_pure_cases,
        examine=_examine_pure,
    ),
    Claim(
        id="accounting/filter-renyi",
        statement="Feldman, Zrnic 2021, Rényi filter",
        says="while the losses at an order fixed beforehand sum to τ at most, the run is (α, τ)-Rényi DP",
        cases=_renyi_cases,
        examine=_examine_renyi,
    ),
    Claim(
        id="accounting/filter-zero-concentrated",
        statement="Feldman, Zrnic 2021, Rényi filter at every order at once",
        says="while the ρ chosen by earlier outputs sum to ρ at most, the run is ρ-zCDP",
        cases=_pure_cases,
        examine=_examine_zero_concentrated,
    ),
    Claim(
        id="accounting/filter-gaussian",
        statement="Smith, Thakurta 2022, filter of Gaussian DP",
        says="while the μ² chosen by earlier outputs sum to μ² at most, the run is μ-GDP",
        cases=_gaussian_cases,
        examine=_examine_gaussian,
    ),
    Claim(
        id="accounting/filter-approximate",
        statement="Whitehouse, Ramdas, Rogers, Wu 2023, Theorem 1, and sums",
        says="while Σδ_t ≤ δ'' and Σε_t ≤ ε or Σε_t·tanh(ε_t/2) ≤ ρ(ε, δ'), the run is (ε, δ' + δ'')-DP",
        cases=_approximate_cases,
        examine=_examine_approximate,
    ),
    Claim(
        id="accounting/odometer-renyi",
        statement="Ville 1939, for e^{(α−1)(L − Στ)}; Rogers, Roth, Ullman, Vadhan 2016 for pure losses",
        says="at all times at once the realised loss is below min_α Στ(α) + log(k/δ)/(α − 1), but for δ",
        cases=_odometer_cases,
        examine=_examine_odometer,
    ),
    Claim(
        id="accounting/filter-order-afterwards",
        statement="a wrong filter: the Rényi order is picked once the costs are known",
        says="a run is (ε, δ)-DP if on each path the sums at the better of two orders give it",
        cases=_control_cases,
        examine=lambda case: _examine_control(case, _best_of_orders),
        expectation=Expectation.REJECTED,
        erratum="DPIS-adaptive",
        witness={"first": Fraction(17, 16), "factor": Fraction(5, 2), "delta": Fraction(1, 10)},
    ),
    Claim(
        id="accounting/filter-realised-losses",
        statement="a wrong filter: the loss distributions of the mechanisms that came are composed",
        says="a run is (ε, δ)-DP if on each path the mechanisms on it, fixed beforehand, would be",
        cases=_control_cases,
        examine=lambda case: _examine_control(case, _realised),
        expectation=Expectation.REJECTED,
    ),
)
