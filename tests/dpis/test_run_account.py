"""Accounts of training runs: no trajectory costs more than the budget, and what was paid stays paid."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from scipy import optimize

from certdp import Delta, Epsilon, Order, Public
from certdp.accounting.bulk.sampled_gaussian import renyi_upper
from certdp.accounting.conversions import epsilon_at_order
from certdp.accounting.dpis import allocation as dpis_allocation
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import CertdpError, InvalidType, InvalidValue
from certdp.accounting.filters import BudgetExceeded
from certdp.dpis import filtered_payments
from certdp.dpis.budget import (
    AdaptiveClip,
    DominatedAccounting,
    ExponentialDecay,
    FixedClip,
    NoisySize,
    NormSums,
    PublicSize,
    RenyiAccounting,
    RunPlan,
)
from certdp.dpis.run_account import EpochNoise, RunAccount, open_account, restored_account
from certdp.runs.calibration import Budget
from certdp.verification.oracles.renyi import mixture_divergence
from tests.support.training_plans import adaptive_clip, training_plan

EPSILON, DELTA = 1.0, 1e-5
ORDER = Order("14.5")


def public(value: Any) -> Public[Any]:
    return Public(value)


ADAPTIVE = adaptive_clip(start=1, external=4, quantile="0.5", noise_multiplier=50, lowest="0.1", highest=3)
NOISY = NoisySize(noise=public(30), guess=public(1000))


small_plan = partial(training_plan, epsilon=1, epochs=4, steps_per_epoch=6, records=1000, norm_noise=40, order=ORDER)
"""4 epochs of 6 steps on about 1000 records at (1, 1e-5)."""
PLANS = {
    "public size": small_plan(),
    "noisy size, adaptive clip": small_plan(size=NOISY, clip=ADAPTIVE, divider=public("0.5")),
    "sampled norm sums, decay": small_plan(
        norm_sums=NormSums(noise_multiplier=public(400), rate=public("0.1"), margin=public("0.001")),
        schedule=ExponentialDecay(base=public("0.9")),
        divider=public(0),
    ),
    "dp-sgd, noisy size": small_plan(norm_sums=None, size=NOISY, divider=public(1)),
}


# What an adversary makes the outputs be: a share of the way from the least to the largest K̃/C, for each epoch

Strategy = Callable[[int, Random], float]
STRATEGIES: dict[str, Strategy] = {
    "least": lambda epoch, random: 0.0,
    "largest": lambda epoch, random: 1.0,
    "growing": lambda epoch, random: epoch / 3,
    "falling": lambda epoch, random: 1 - epoch / 3,
    "last jumps": lambda epoch, random: float(epoch == 3),
    "alternating": lambda epoch, random: float(epoch % 2),
    "random": lambda epoch, random: random.random(),
    "near the ends": lambda epoch, random: random.choice([1e-9, 1 - 1e-9]),
}


def independent_renyi(rate: float, shift: float, order: float) -> float:
    """D_α of (1 − r)·N(0, 1) + r·N(s, 1) from N(0, 1) by the trapezoid rule on the definition, in floats."""
    x, step = np.linspace(-14.0, order * shift + 14.0, 6001, retstep=True)
    density = np.log1p(rate * np.expm1(shift * x - shift * shift / 2))
    moment = np.sum(np.exp(order * density - x * x / 2)) * step / math.sqrt(2 * math.pi)
    return float(np.log(moment) / (order - 1))


def test_the_independent_divergence_agrees_with_the_oracle() -> None:
    for rate, shift, order in ((Fraction(1, 50), Fraction(1, 2), Fraction(29, 2)), (Fraction(9, 10), Fraction(1), 3)):
        exact = mixture_divergence(rate, shift, Fraction(1), Fraction(order))
        assert independent_renyi(float(rate), float(shift), float(order)) == pytest.approx(float(exact), rel=1e-9)


def delta_of(tau: float, order: float, epsilon: float) -> float:
    """The largest p − e^ε·q of laws (p, 1 − p), (q, 1 − q) with D_α ≤ τ: the best conversion (Asoodeh et al. 2021)."""

    def left(log_p: float) -> float:
        p = math.exp(log_p)

        def exceeds(log_q: float) -> bool:
            """Whether the moment is above e^{(α−1)τ}; it falls in q up to p."""
            q = math.exp(log_q)
            moment = p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)
            return bool(moment > math.exp((order - 1) * tau))

        low, high = log_p - 60 / order, log_p
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if exceeds(middle) else (low, middle)
        return p - math.exp(epsilon + low)

    grid = np.linspace(math.log(1e-9), math.log(0.999), 400)
    best = int(np.argmax([left(value) for value in grid]))
    around = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found: Any = optimize.minimize_scalar(lambda value: -left(value), bounds=around, method="bounded")
    return -float(found.fun)


def multiples(plan: RunPlan) -> dict[str, tuple[float, float]]:
    """Rate and shift of the fixed releases."""
    found = {}
    if isinstance(plan.size, NoisySize):
        found["size"] = 1.0, 1 / float(plan.size.noise.value)
    if plan.norm_sums is not None:
        rate = float(plan.norm_sums.rate.value)
        found["norm sum"] = rate, 1 / (float(plan.norm_sums.noise_multiplier.value) * rate)
    if isinstance(plan.clip, AdaptiveClip):
        found["clip"] = 1.0, 1 / float(plan.clip.noise_multiplier.value)
    return found


def trajectory(account: RunAccount, strategy: Strategy, random: Random) -> list[tuple[float, float, int]]:
    """Run to the end; rate, shift and number of everything that was paid, from the outputs and not from the account."""
    plan, fixed, paid = account.plan, multiples(account.plan), []
    clip = plan.clip.first
    if isinstance(plan.size, NoisySize):
        account.pay_size()
        account.size_released(random.choice([-5, 3, 700, 1000, 1e6]))
        paid.append((*fixed["size"], 1))
    for epoch in range(plan.epochs):
        low, high = plan.least_norm_sum, account.size
        kappa = low + Fraction(strategy(epoch, random)) * (high - low)
        if plan.norm_sums is None:
            kappa = high
        else:
            released = account.pay_norm_sum(epoch, clip).bounded(kappa * clip)
            assert released == kappa * clip
            paid.append((*fixed["norm sum"], 1))
        noise = account.begin_epoch(kappa * clip, clip)
        account.pay_steps(plan.steps_per_epoch)
        rate = float(plan.batch.value / kappa)
        shift = float(noise.length) / (float(noise.noise_multiplier) * float(clip))
        assert shift == pytest.approx(float(kappa / account.size / noise.noise_multiplier))
        paid.append((rate, shift, plan.steps_per_epoch))
        if isinstance(plan.clip, AdaptiveClip) and epoch < plan.epochs - 1:
            clip = account.pay_clip().following(Fraction(random.choice([-1e9, 0, 900, 1e9])))
            paid.append((*fixed["clip"], 1))
    with pytest.raises(BudgetExceeded):
        account.pay_steps()
    return paid


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_trajectory_exceeds_the_budget(name: str, strategy: str, stream: int) -> None:
    """32 plans and strategies, each with several outcomes of chance; ten times as many in soundness runs."""
    plan, order = PLANS[name], float(ORDER.value)
    for repeat in range(4):
        random = Random(f"{name} {strategy} {repeat} {stream}")
        account = open_account(plan)
        paid = trajectory(account, STRATEGIES[strategy], random)
        total = sum(count * independent_renyi(rate, shift, order) for rate, shift, count in paid)
        assert delta_of(total, order, EPSILON) <= DELTA * (1 + 1e-6)
        assert account.spent() <= EPSILON
        if plan.norm_sums is not None and STRATEGIES[strategy](3, random) == 1:
            assert account.spent() >= 0.9 * EPSILON  # what later epochs were kept for is used


def test_the_conversion_that_trajectories_are_held_against_is_sharp() -> None:
    """A τ larger by 1 % entails a larger δ than the budget's: the check above can fail."""
    account = open_account(PLANS["public size"])
    trajectory(account, STRATEGIES["largest"], Random(1))
    tau = float(account._payments._filter.spent.tau.upper)  # type: ignore[attr-defined]
    assert delta_of(tau * 1.01, float(ORDER.value), EPSILON) > DELTA
    assert delta_of(tau, float(ORDER.value), EPSILON) == pytest.approx(DELTA, rel=1e-3)


@pytest.mark.parametrize("name", PLANS)
def test_steps_cost_the_same_one_by_one_and_at_once(name: str) -> None:
    plan = PLANS[name]
    accounts = [open_account(plan) for _ in range(2)]
    for account in accounts:
        if isinstance(plan.size, NoisySize):
            account.pay_size()
            account.size_released(1000)
        norm_sum = account.size * plan.clip.first
        if plan.norm_sums is not None:
            account.pay_norm_sum(0, plan.clip.first)
        account.begin_epoch(norm_sum, plan.clip.first)
    at_once, one_by_one = accounts
    with pytest.raises(BudgetExceeded, match="T = "):
        at_once.pay_steps(plan.steps_per_epoch + 1)
    with pytest.raises(InvalidValue, match="count"):
        at_once.pay_steps(0)
    at_once.pay_steps(plan.steps_per_epoch)
    for _ in range(plan.steps_per_epoch):
        one_by_one.pay_steps()
    assert at_once.state() == one_by_one.state()
    assert at_once.spent() == pytest.approx(one_by_one.spent(), rel=1e-12)


# Allocation


def noises(plan: RunPlan, shares: list[Fraction]) -> list[EpochNoise]:
    account = open_account(plan)
    found = []
    for epoch, share in enumerate(shares):
        clip = plan.clip.first
        account.pay_norm_sum(epoch, clip)
        found.append(account.begin_epoch(account.size * share * clip, clip))
        account.pay_steps(plan.steps_per_epoch)
    return found


def test_early_epochs_keep_what_later_ones_may_need_and_the_last_ones_use_it() -> None:
    """Section 4.2: with K̃ at a half, σ_G falls at the divider; the order of the two phases shows in it."""
    shares = [Fraction(1, 2)] * 4
    kept = [float(noise.noise_multiplier) for noise in noises(small_plan(divider=public("0.5")), shares)]
    assert kept[0] > kept[1] > 1.2 * kept[2]
    assert kept[2] == pytest.approx(kept[3], rel=1e-4)
    level = [float(noise.noise_multiplier) for noise in noises(small_plan(divider=public(0)), shares)]
    assert level == pytest.approx([level[0]] * 4, rel=1e-4)


def test_dp_sgd_and_dpis_at_the_largest_norm_sum_need_the_same_noise_but_for_the_norm_sums() -> None:
    free = small_plan(norm_sums=NormSums(noise_multiplier=public(10**6)))
    account = open_account(small_plan(norm_sums=None))
    uniform = account.begin_epoch(1000, 1)
    with_sums = noises(free, [Fraction(1)])[0]
    assert float(uniform.noise_multiplier) == pytest.approx(float(with_sums.noise_multiplier), rel=1e-5)
    assert uniform.rate == Fraction(20, 1000)
    assert uniform.length == 1


def test_a_decaying_schedule_sets_the_ratios() -> None:
    plan = small_plan(norm_sums=None, schedule=ExponentialDecay(base=public("0.8")))
    account = open_account(plan)
    found = []
    for _ in range(4):
        found.append(float(account.begin_epoch(1000, 1).noise_multiplier))
        account.pay_steps(6)
    assert [found[1] / found[0], found[3] / found[2]] == pytest.approx([0.8, 0.8], rel=1e-4)


def test_the_order_is_chosen_from_public_constants_and_needs_little_noise() -> None:
    chosen = open_account(small_plan(accounting=RenyiAccounting()))

    def noise(order: str) -> float:
        account = open_account(small_plan(accounting=RenyiAccounting(order=Order(order))))
        account.pay_norm_sum(0, 1)
        return float(account.begin_epoch(1000, 1).noise_multiplier)

    chosen.pay_norm_sum(0, 1)
    least = float(chosen.begin_epoch(1000, 1).noise_multiplier)
    assert all(least <= noise(order) * (1 + 1e-4) for order in ("9", "12", "15", "20", "30", "60"))


def test_a_guarantee_says_whether_the_number_of_records_was_taken_to_be_public() -> None:
    for plan, expected in ((PLANS["public size"], True), (PLANS["dp-sgd, noisy size"], False)):
        guarantee = open_account(plan).guarantee
        names = [assumption.name for assumption in guarantee.assumptions]
        assert ("number of records is public" in names) is expected
        assert {"real-valued noise", "gradient norms", "budget fixed beforehand"} <= set(names)
        assert guarantee.bound.epsilon.upper <= 1
        assert guarantee.bound.delta.upper <= Fraction("1e-5") * (1 + Fraction(1, 10**30))


# Domination


DOMINATED = small_plan(accounting=DominatedAccounting(rate=public("0.1")), size=NOISY, clip=ADAPTIVE)


@pytest.mark.slow
def test_a_dominated_run_keeps_rate_and_shift_within_what_was_declared() -> None:
    account = open_account(DOMINATED)
    assert account.guarantee.bound.epsilon.upper == 1
    assert account.guarantee.bound.delta.upper <= Fraction("1e-5")
    for strategy in ("least", "growing", "near the ends"):
        account = open_account(DOMINATED)
        declared = 1 / Fraction(account.state()["choice"]["noise_multiplier"])
        for rate, shift, count in trajectory(account, STRATEGIES[strategy], Random(strategy)):
            if count > 1:
                assert rate <= 0.1 * (1 + 1e-12)
                assert shift <= float(declared) * (1 + 1e-12)
        assert 0.99 * EPSILON < account.spent() <= EPSILON


@pytest.mark.slow
def test_a_rate_just_below_the_declared_one_is_within_it_and_one_above_is_not() -> None:
    rate = Fraction(math.nextafter(20 / 1001, 1))  # b/N is no binary64 number
    plan = small_plan(
        norm_sums=None, size=PublicSize(size=public(1001)), accounting=DominatedAccounting(rate=public(rate))
    )
    account = open_account(plan)
    noise = account.begin_epoch(1001, 1)
    account.pay_steps()
    assert account.spent() > 0
    payments = account._payments
    for lavish in (evolve(noise.step, norm_sum=900), evolve(noise.step, noise_multiplier=noise.noise_multiplier / 2)):
        with pytest.raises(BudgetExceeded, match="as declared"):
            payments.steps(1, lavish, 1)


@pytest.mark.slow
def test_dp_sgd_by_loss_distribution_needs_less_noise_than_by_renyi() -> None:
    plan = small_plan(norm_sums=None, accounting=DominatedAccounting(rate=public("0.02")))
    by_distribution = open_account(plan).begin_epoch(1000, 1).noise_multiplier
    plan = small_plan(norm_sums=None, accounting=RenyiAccounting())
    by_renyi = open_account(plan).begin_epoch(1000, 1).noise_multiplier
    assert 0.6 * by_renyi < by_distribution < by_renyi


# Resuming


@pytest.mark.parametrize("plan", [PLANS["noisy size, adaptive clip"], DOMINATED], ids=["filtered", "dominated"])
def test_a_resumed_run_goes_on_as_it_would_have(plan: RunPlan) -> None:
    account = open_account(plan)
    account.pay_size()
    account.size_released(990)
    account.pay_norm_sum(0, 1)
    account.begin_epoch(500, 1)
    account.pay_steps()
    account.pay_steps()
    other = restored_account(plan, json.loads(json.dumps(account.state())))
    assert other.state() == account.state()
    assert other.spent() == account.spent()
    for run in (account, other):
        run.pay_steps(4)
        clip = run.pay_clip().following(Fraction(1500))
        run.pay_norm_sum(1, clip)
        run.begin_epoch(300 * clip, clip)
    assert other.current == account.current
    assert other.state() == account.state()


@pytest.mark.parametrize("plan", [PLANS["noisy size, adaptive clip"], DOMINATED], ids=["filtered", "dominated"])
def test_an_epoch_left_early_costs_the_steps_it_took_also_when_resumed(plan: RunPlan) -> None:
    account = open_account(plan)
    account.pay_size()
    account.size_released(1000)
    account.begin_epoch(1000, 1)
    account.pay_steps()
    account.pay_clip()
    with pytest.raises(BudgetExceeded):
        account.pay_steps()
    other = restored_account(plan, account.state())
    assert other.spent() == account.spent()
    for run in (account, other):
        run.pay_norm_sum(1, 1)
    assert other.begin_epoch(500, 1) == account.begin_epoch(500, 1)


@pytest.mark.parametrize("epsilon", ["1e-30", "1e-12", "4"])
def test_the_loss_that_a_budget_allows_is_found_where_it_is_far_above_epsilon(
    epsilon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a tiny ε₀ what δ₀ allows decides, and the floats there lie further apart than the gap to ε₀."""
    asked: list[Fraction] = []

    def recorded(order: Fraction, tau: Enclosure, delta: Enclosure) -> Enclosure:
        asked.append(tau.upper)
        assert len(asked) < 2000
        return epsilon_at_order(order, tau, delta)

    monkeypatch.setattr(filtered_payments, "epsilon_at_order", recorded)
    plan = small_plan(budget=Budget(epsilon=Epsilon(epsilon), delta=Delta("1e-5")))
    filtered_payments._largest_tau.cache_clear()
    tau = filtered_payments._largest_tau(plan, Fraction(8))
    allowed, delta = Fraction(epsilon), Enclosure.of(plan.budget.delta.value)
    at = [epsilon_at_order(Fraction(8), Enclosure.of(tau * share), delta) for share in (1, 1 + Fraction(1, 10**5))]
    assert at[0].upper <= allowed < at[1].lower


@pytest.mark.parametrize("order", ["14.1", "43/3"])
def test_costs_are_asked_for_at_no_lower_order_rate_or_shift(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest float of 14.1 lies below it."""
    asked: list[tuple[Any, ...]] = []

    def recorded(*arguments: Any) -> Any:
        asked.append(arguments)
        return renyi_upper(*arguments)

    for module in (filtered_payments, dpis_allocation):
        monkeypatch.setattr(module, "renyi_upper", recorded)
    account = open_account(small_plan(batch=7, norm_sums=None, accounting=RenyiAccounting(order=Order(order))))
    step = account.begin_epoch(1000, 1).step
    account.pay_steps()
    assert all(Fraction(arguments[2]) >= Fraction(order) for arguments in asked)
    rate, shift, _ = asked[-1]
    assert Fraction(rate) >= step.rate
    assert Fraction(shift) >= step.shift


def test_what_was_paid_and_lost_is_not_paid_twice() -> None:
    plan = PLANS["noisy size, adaptive clip"]
    account = open_account(plan)
    account.pay_size()  # killed before Ñ was known
    account = restored_account(plan, account.state())
    with pytest.raises(BudgetExceeded, match="guess"):
        account.pay_size()
    assert account.size_released(1000) == 1000
    account.pay_norm_sum(0, 1)  # killed before K̃ was known
    account = restored_account(plan, account.state())
    with pytest.raises(BudgetExceeded, match="K̃ = ÑC"):
        account.pay_norm_sum(0, 1)
    before = account.spent()
    account.begin_epoch(1000, 1)
    account.pay_steps(6)
    account = restored_account(plan, account.state())  # killed with all steps paid
    with pytest.raises(BudgetExceeded, match="T = 6"):
        account.pay_steps()
    assert account.spent() > before
    account.pay_clip()
    with pytest.raises(BudgetExceeded, match="Keep C"):
        account.pay_clip()


def epoch_of(*, steps: object = 6, clip_paid: bool = False, **begun: str) -> dict[str, object]:
    noise = {"norm_sum": "500", "clip": "1", "noise_multiplier": "10", **begun}
    return {"norm_sum_paid": True, "begun": noise, "steps": steps, "clip_paid": clip_paid}


def test_states_of_other_plans_and_damaged_ones_are_refused() -> None:
    plan = PLANS["public size"]
    state = open_account(plan).state()
    with pytest.raises(InvalidValue, match="another plan"):
        restored_account(small_plan(epochs=5), state)
    with pytest.raises(InvalidValue, match="version"):
        restored_account(plan, {**state, "version": 99})
    for damage in (
        {"epochs": [{"norm_sum_paid": True}]},
        {"epochs": [epoch_of(norm_sum="abc")]},
        {"epochs": [epoch_of(norm_sum="1/0")]},
        {"epochs": [epoch_of(norm_sum="1001")]},
        {"epochs": [epoch_of(clip="2")]},
        {"epochs": [epoch_of(steps=7)]},
        {"epochs": [epoch_of(steps=-1)]},
        {"epochs": [epoch_of(steps="6")]},
        {"epochs": [epoch_of(clip_paid=True)]},
        {"epochs": [epoch_of()] * 5},
        {"epochs": 3},
        {"size_paid": True},
        {"choice": {"order": "abc"}},
    ):
        with pytest.raises(InvalidValue):
            restored_account(plan, {**state, **damage})
    without = {**open_account(PLANS["dp-sgd, noisy size"]).state(), "size": "1000"}
    with pytest.raises(BudgetExceeded, match="K̃ = ÑC"):
        restored_account(PLANS["dp-sgd, noisy size"], {**without, "epochs": [epoch_of(norm_sum="1000")]})
    begun = {"norm_sum": "1000", "clip": "1", "noise_multiplier": "1/1000"}
    lavish = {"norm_sum_paid": True, "begun": begun, "steps": 6, "clip_paid": False}
    with pytest.raises(BudgetExceeded):
        restored_account(plan, {**state, "epochs": [lavish]})


# Bounds and bad input


def test_a_size_below_the_batch_is_raised_to_where_the_norm_sum_has_room() -> None:
    account = open_account(PLANS["noisy size, adaptive clip"])
    account.pay_size()
    size = account.size_released(-17)
    assert size == 20 * Fraction(101, 100)
    release = account.pay_norm_sum(0, 1)
    assert release.bounded(Fraction(-1)) == release.bounded(Fraction(10**9)) == size
    noise = account.begin_epoch(size, 1)
    assert noise.rate == Fraction(100, 101)
    assert noise.length == 1


def test_norm_sums_are_kept_within_their_bounds() -> None:
    account = open_account(PLANS["public size"])
    with pytest.raises(InvalidValue, match="norm_sum"):
        account.begin_epoch(500, 1)  # no release of it was paid
    release = account.pay_norm_sum(0, 1)
    assert (release.rate, release.scale) == (Fraction(1), Fraction(40))
    assert release.bounded(Fraction(-5)) == Fraction("20.2")
    assert release.bounded(Fraction(5000)) == 1000
    for outside in ("20.19", 1001, float("nan")):
        with pytest.raises(InvalidValue, match="norm_sum"):
            account.begin_epoch(outside, 1)
    with pytest.raises(InvalidValue, match="clip"):
        account.begin_epoch(500, 2)
    assert account.next_epoch == 0


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"batch": public(1001)}, "batch"),
        ({"batch": public(995)}, "margin"),
        ({"batch": public(0)}, "batch"),
        ({"epochs": 0}, "epochs"),
        ({"steps_per_epoch": 0}, "steps_per_epoch"),
        ({"divider": public("1.01")}, "divider"),
        ({"divider": public(-1)}, "divider"),
        ({"budget": Budget(epsilon=Epsilon(1), delta=Delta(0))}, "delta"),
        ({"budget": Budget(epsilon=Epsilon(0), delta=Delta("1e-5"))}, "epsilon"),
    ],
)
def test_plans_out_of_range_are_refused(changes: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidValue, match=word):
        small_plan(**changes)


def test_parameters_out_of_range_are_refused() -> None:
    for bound in (0, -1, float("inf")):
        with pytest.raises(InvalidValue, match="bound"):
            FixedClip(bound=public(bound))
    with pytest.raises(InvalidValue, match="start"):
        adaptive_clip(start=5, external=1, quantile=1, noise_multiplier=1, lowest=1, highest=2)
    with pytest.raises(InvalidType, match="Public"):
        NoisySize(noise=30, guess=public(1000))  # type: ignore[arg-type]


@pytest.mark.parametrize("accounting", [RenyiAccounting(), DominatedAccounting(rate=public("0.1"))])
def test_a_budget_that_the_fixed_releases_alone_exceed_is_refused(accounting: Any) -> None:
    sums = NormSums(noise_multiplier=public("0.5"))
    with pytest.raises(CertdpError, match="σ_K"):
        open_account(small_plan(norm_sums=sums, accounting=accounting))


def test_calls_out_of_order_are_refused_and_spend_nothing() -> None:
    account = open_account(PLANS["noisy size, adaptive clip"])
    with pytest.raises(InvalidValue, match="not released"):
        account.pay_norm_sum(0, 1)
    account.pay_size()
    account.size_released(1000)
    before = account.spent()
    for call in (account.pay_steps, account.pay_clip, lambda: account.pay_norm_sum(1, 1)):
        with pytest.raises(InvalidValue):
            call()
    assert account.spent() == before
    assert account.next_epoch == 0
