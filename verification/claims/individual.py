"""Claims of individual accounting: losses per record, the individual Rényi filter, the truncated Gaussian label.

The laws of finite runs are exact and written out as trees of outputs; divergences of Gaussian mixtures are integrated
or follow from distribution functions. Two ways to run a filter that fail, and one to read the label, are controls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from ...accounting.enclosures import Enclosure
from ...accounting.individual.filter import IndividualFilter
from ...accounting.individual.losses import IndividualLosses
from ...accounting.individual.orders import Orders
from ...accounting.individual.truncated_gaussian import TruncatedGaussian, truncated_gaussian
from ...accounting.pairs.gaussian import SampledGaussian
from ...accounting.provenance import Public
from ...accounting.units import Delta, Order
from ...plugins.contract import Case, Claim, Expectation, Finding
from ..oracles.divergences import NEGLIGIBLE, gaussian_delta, logarithm
from ..oracles.renyi import AGREEMENT, NOISE, mixture_divergence
from ..oracles.runs import delta_of_sample
from .finite import Law, moment

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Path: TypeAlias = tuple[int, ...]

_STEPS = 4
_LOOSE = Fraction("1.001")
_FAIR = (Fraction(1, 2), Fraction(1, 2))


# Losses per record


def _examine_renyi(case: Case) -> Finding:
    """Both ways to compute a record's losses, against the integral of the densities."""
    rate, shift, times = float(case["rate"]), float(case["shift"]), case["times"]
    order = Order(case["order"])
    tables = IndividualLosses(1, Orders([order]))
    tables.step([rate], shift, given=Public(shift), times=times)
    one_by_one = IndividualLosses(1, Orders([order]))
    for _ in range(times):
        one_by_one.step([rate], [shift], given=Public(shift))
    exact_rate, exact_shift = Fraction(rate), Fraction(shift)
    integral = times * mixture_divergence(exact_rate, exact_shift, Fraction(1), order.value)
    found = [Fraction(float(losses.renyi(order).reveal()[0])) for losses in (tables, one_by_one)]
    least = integral * (1 - AGREEMENT) - times * NOISE
    most = integral * _LOOSE + times * NOISE
    return Finding(
        holds=all(least <= value <= most for value in found),
        closed_form=", ".join(f"{float(value):.16g}" for value in found),
        independent=f"integral of the densities, {times} times: {float(integral):.16g}",
    )


# The filter, on finite runs


def _divergence(first: Law, second: Law, order: int) -> Fraction:
    """The Rényi divergence of two laws in the worse direction, at high precision."""
    worse = max(moment(first, second, order), moment(second, first, order))
    return logarithm(worse) / (order - 1)


def _laws(shares: Sequence[Fraction], admits: Callable[[Path], bool]) -> tuple[Law, Law]:
    """The laws of all outputs with and without a record that takes part where it is admitted.

    Without it each output is fair; with it, output 1 has the share that belongs to the outputs before.
    """
    present, absent = [], []
    for path in product((0, 1), repeat=_STEPS):
        probability = Fraction(1)
        for t, output in enumerate(path):
            share = _share(shares, path[:t]) if admits(path[: t + 1]) else _FAIR[1]
            probability *= share if output else 1 - share
        present.append(probability)
        absent.append(Fraction(1, 2**_STEPS))
    return tuple(present), tuple(absent)


def _share(shares: Sequence[Fraction], before: Path) -> Fraction:
    return shares[int("1" + "".join(map(str, before)), 2) - 1]


def _step_loss(share: Fraction, order: int) -> Fraction:
    return _divergence((1 - share, share), _FAIR, order)


def _masks(case: Case) -> Callable[[Path], bool]:
    """Whether the filter lets the record take part in the last step of a path."""

    def admitted(path: Path) -> bool:
        account = IndividualFilter(Order(case["order"]), case["budget"], 1)
        taking_part = False
        for t in range(len(path)):
            loss = _step_loss(_share(case["shares"], path[:t]), case["order"])
            (taking_part,) = account.admit(Enclosure.of(loss + NEGLIGIBLE).upper_float).reveal()
        return bool(taking_part)

    return admitted


def _late(case: Case) -> Callable[[Path], bool]:
    """As `_masks`, but the step in which the budget ends is taken part in."""
    in_time = _masks(case)
    return lambda path: len(path) == 1 or in_time(path[:-1])


def _examine_filter(case: Case) -> Finding:
    return _within_budget(case, _masks(case))


def _examine_late_filter(case: Case) -> Finding:
    return _within_budget(case, _late(case))


def _within_budget(case: Case, admits: Callable[[Path], bool]) -> Finding:
    found = _divergence(*_laws(case["shares"], admits), case["order"])
    return Finding(
        holds=found <= case["budget"] + NEGLIGIBLE,
        closed_form=f"budget {float(case['budget']):.16g} at order {case['order']}",
        independent=f"divergence of all outputs: {float(found):.16g}",
    )


def _examine_order_after_the_run(case: Case) -> Finding:
    """A fair coin chooses one of two mechanisms; a record takes part while the sum at some order is within its budget.

    Each budget is what one of the mechanisms loses at that order. By the sums, every path is covered at some order.
    """
    rare, likely = case["rare"], case["rare"] * case["factor"]
    first: tuple[Law, Law] = ((likely, 1 - likely), (rare, 1 - rare))
    second: tuple[Law, Law] = ((case["share"], 1 - case["share"]), _FAIR)
    low, high = case["orders"]
    budgets = {low: _divergence(*first, low), high: _divergence(*second, high)}
    present: list[Fraction] = []
    absent: list[Fraction] = []
    for laws in (first, second):
        within = any(_divergence(*laws, order) <= budget for order, budget in budgets.items())
        present += [p / 2 for p in (laws[0] if within else laws[1])]
        absent += [q / 2 for q in laws[1]]
    found = {order: _divergence(tuple(present), tuple(absent), order) for order in budgets}
    return Finding(
        holds=any(found[order] <= budgets[order] + NEGLIGIBLE for order in budgets),
        closed_form=" or ".join(f"τ({order}) ≤ {float(budget):.9g}" for order, budget in budgets.items()),
        independent=", ".join(f"τ({order}) = {float(value):.9g}" for order, value in found.items()),
    )


# The truncated Gaussian label


def _label(case: Case) -> TruncatedGaussian:
    pair = SampledGaussian(Enclosure.of(case["shift"]), Enclosure.of(case["rate"]))
    return truncated_gaussian(pair.delta, Delta(case["delta"]))


def _compared(case: Case, label: TruncatedGaussian, epsilon: Fraction, allowed: Fraction) -> Finding:
    found = max(delta_of_sample(case["rate"], case["shift"], epsilon, remove=remove) for remove in (True, False))
    return Finding(
        holds=found <= allowed + NEGLIGIBLE,
        closed_form=f"{label}; allows δ = {float(allowed):.9g} at ε = {float(epsilon):.9g}",
        independent=f"δ = {float(found):.9g}",
    )


def _examine_truncated(case: Case) -> Finding:
    """What the label says, at a place of the case: a share of ε₀, or beyond it."""
    label = _label(case)
    epsilon = label.epsilon * case["place"]
    beyond = case["place"] >= 1 or not label.epsilon
    return _compared(case, label, epsilon, case["delta"] if beyond else gaussian_delta(label.mu, epsilon))


def _examine_truncated_as_gaussian(case: Case) -> Finding:
    """The label read as Gaussian DP: δ(ε) ≤ δ_μ(ε) beyond ε₀ too."""
    label = _label(case)
    epsilon = label.epsilon * case["place"]
    return _compared(case, label, epsilon, gaussian_delta(label.mu, epsilon) if label.mu else Fraction(0))


# Cases


def _renyi_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "rate": st.fractions(0, 1, max_denominator=64) | st.integers(3, 9).map(lambda n: Fraction(1, 2**n)),
            "shift": st.fractions(0, 2, max_denominator=16),
            "order": st.integers(2, 12).map(Fraction) | st.sampled_from([Fraction(3, 2), Fraction(11, 4)]),
            "times": st.integers(1, 5),
        }
    )


def _run_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    shares = st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=10)
    return st.fixed_dictionaries(
        {
            "shares": st.lists(shares, min_size=2**_STEPS - 1, max_size=2**_STEPS - 1),
            "order": st.integers(2, 5),
            "budget": st.fractions(Fraction(1, 50), 1, max_denominator=50),
        }
    )


def _two_order_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "rare": st.integers(200, 2000).map(lambda n: Fraction(1, n)),
            "factor": st.integers(10, 30),
            "share": st.fractions(Fraction(4, 5), Fraction(9, 10), max_denominator=40),
            "orders": st.sampled_from([(2, 8), (2, 6), (3, 10)]),
        }
    )


def _label_cases(places: Callable[[], SearchStrategy[Fraction]]) -> Callable[[], SearchStrategy[Case]]:
    def cases() -> SearchStrategy[Case]:
        from hypothesis import strategies as st

        return st.fixed_dictionaries(
            {
                "rate": st.integers(1, 8).map(lambda n: Fraction(1, 2**n)),
                "shift": st.fractions(Fraction(1, 4), 3, max_denominator=8),
                "delta": st.integers(3, 10).map(lambda n: Fraction(1, 10**n)),
                "place": places(),
            }
        )

    return cases


def _any_place() -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.fractions(0, 2, max_denominator=40)


def _far_place() -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.fractions(2, 8, max_denominator=4)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="accounting/individual-renyi",
        statement="Mironov, Talwar, Zhang 2019, for a record's own rate and shift",
        says="losses of a record, from a table and one by one, bound the divergence and exceed it by 10^-3 at most",
        cases=_renyi_cases,
        examine=_examine_renyi,
    ),
    Claim(
        id="accounting/individual-filter",
        statement="Feldman, Zrnic 2021, individual Rényi filter",
        says="a record that leaves before its budget ends loses at most the budget, whatever earlier outputs choose",
        cases=_run_cases,
        examine=_examine_filter,
    ),
    Claim(
        id="accounting/individual-filter-one-step-late",
        statement="Feldman, Zrnic 2021, individual Rényi filter, dropping a record one step late",
        says="a record that takes part in the step in which its budget ends loses at most the budget",
        cases=_run_cases,
        examine=_examine_late_filter,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="accounting/individual-order-after-the-run",
        statement="Feldman, Zrnic 2021, individual Rényi filter, with an order chosen after the run",
        says="where on every path the sum at some order is within its budget, so is the divergence at some order",
        cases=_two_order_cases,
        examine=_examine_order_after_the_run,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="accounting/individual-truncated-gaussian",
        statement="label: μ down to δ₀",
        says="δ(ε) of a sampled Gaussian is at most δ_μ(ε) below ε₀ and at most δ₀ from there on",
        cases=_label_cases(_any_place),
        examine=_examine_truncated,
    ),
    Claim(
        id="accounting/individual-truncated-as-gaussian",
        statement="label: μ down to δ₀, read as Gaussian DP",
        says="δ(ε) of a sampled Gaussian is at most δ_μ(ε) everywhere",
        cases=_label_cases(_far_place),
        examine=_examine_truncated_as_gaussian,
        expectation=Expectation.REJECTED,
    ),
)
