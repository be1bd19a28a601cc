"""Never half of a step: an account that was interrupted, or whose coins failed, is as before, as after, or refuses.

Interrupted is every line of every method of every class that holds spent budget; coins fail at each of their requests.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen

import certdp
from certdp import Coins, Public
from certdp.accounting.draws.source import Seeded
from certdp.accounting.errors import CertdpError
from certdp.accounting.filters import PureFilter
from certdp.accounting.filters.spending import InterruptedChange, SpendingState
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Pure
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.releases import ResampleEach
from certdp.accounting.sampling.strategies import Participation, ToeplitzStrategy
from certdp.dpis import engine, step_sums
from certdp.dpis.run_account import open_account
from certdp.ledger import SameRequest
from certdp.mechanisms.gaussian_sum import GaussianSum
from certdp.runs.adaptive import AdaptiveRun, DominatedRun
from certdp.runs.correlated import CorrelatedRun
from certdp.runs.correlated_steps import CorrelatedSteps
from certdp.runs.places import DrawnBatches, drawn_places
from certdp.runs.plan import Plan
from certdp.runs.sampled import SampledRun
from certdp.samplers.poisson import Poisson
from tests.support.snapshots import snapshot
from tests.test_spending_states import BALL, EITHER, KINDS, RENYI, _records, laplace, number

SOURCES = tuple(str(Path(one).resolve()) for one in certdp.__path__)
REFUSALS = (InterruptedChange, SameRequest)  # of an account whose ledger knows more than it: open it anew

LONG = {engine._Run: "many payments and steps, each of them tried as one of its account; its coins fail below"}
ASKS = [(kind, name) for kind, row in KINDS.items() if kind not in LONG for name in row.asks]


class Repeating:
    """Coins that give the same words to every request, so that what is drawn does not depend on what was before."""

    private = False

    def bits(self, count: int) -> Any:
        return Seeded(1).bits(count)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C at a certain line."""


def interrupted(call: Callable[[], object], at: int) -> bool:
    """Whether a call that is interrupted at the line of this number, within methods of accounts, comes to it."""
    lines = count(1)

    def local(_: Any, event: str, __: Any) -> Any:
        if event == "line" and next(lines) == at:
            raise Interrupted
        return local

    def entered(frame: Any, _: str, __: Any) -> Any:
        return local if isinstance(frame.f_locals.get("self"), SpendingState) else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        call()
    except Interrupted:
        return True
    except CertdpError:
        return False
    finally:
        sys.settrace(before)
    return False


def states(make: Callable[[], Any], ask: Callable[[Any], object]) -> list[Any]:
    """What an account holds before a call, after it, and after another one; as far as it is not refused."""
    made = make()
    found = [snapshot(made)]
    for _ in range(2):
        try:
            ask(made)
        except (CertdpError, AssertionError, KeyError):  # a payment that the plan does not have
            break
        found.append(snapshot(made))
    return found


def _correlated(coins: Coins, columns: int = 2) -> CorrelatedSteps:
    run = CorrelatedRun(
        mechanism=GaussianSum(noise_multiplier=Public(1)),
        strategy=ToeplitzStrategy([1, 0.5, 0.25], 4),
        participation=Participation(times=4, apart=1),
        domain=NormBall(norm=Norm.L2, radius=Public(1)),
    )
    return run.begin(columns, coins=coins)


MADE_WITH_COINS: Mapping[type[SpendingState], Callable[[], Any]] = {
    CorrelatedSteps: lambda: _correlated(Coins(Repeating()), columns=1)
}
"""What holds what it has drawn."""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), ASKS, ids=[f"{kind.__name__}-{name}" for kind, name in ASKS])
def test_an_interruption_leaves_no_half(kind: type[SpendingState], name: str) -> None:
    ask = KINDS[kind].asks[name]
    make = MADE_WITH_COINS.get(kind, KINDS[kind].make)
    reached = states(make, ask)
    if len(reached) == 1 or reached[0] == reached[1]:
        return  # it changes nothing
    for at in count(1):
        made = make()
        if not interrupted(lambda made=made: ask(made), at):  # type: ignore[misc]
            assert at > 1
            break
        after = snapshot(made)
        try:
            ask(made)
        except REFUSALS:
            continue
        except CertdpError:  # the second one is refused, whoever asks
            assert (after, len(reached)) == (reached[1], 2), at
            continue
        assert after in reached[:2], at
        assert snapshot(made) == reached[reached.index(after) + 1], at


# Coins that fail


class Failing:
    """Coins of a seed, which fail at one request."""

    private = False

    def __init__(self, at: int, error: BaseException) -> None:
        self.at, self.error, self.seeded = at, error, Seeded(1)
        self.asked = 0

    def bits(self, count: int) -> Any:
        self.asked += 1
        if self.asked == self.at:
            raise self.error
        return self.seeded.bits(count)

    def mended(self, seed: int) -> None:
        self.at, self.seeded = 0, Seeded(seed)


@frozen
class Drawing:
    """What draws: made with coins, and asked with them."""

    make: Callable[[Coins], Any]
    draw: Callable[[Any, Coins], Any]


def _batches() -> SampledRun[Any]:
    return SampledRun(
        mechanism=GaussianSum(noise_multiplier=Public(1)),
        sampler=Poisson(rate=Public("1/2")),
        releases=ResampleEach(3),
        domain=BALL,
    )


DRAWING: Mapping[type[SpendingState], Drawing] = {
    AdaptiveRun: Drawing(
        lambda _: AdaptiveRun(PureFilter(Pure(number(9)), domain=BALL, **EITHER)),
        lambda run, coins: run.release(laplace(2), np.eye(2), coins=coins),
    ),
    DominatedRun: Drawing(
        lambda _: DominatedRun(Plan([laplace(2), laplace(2)])),
        lambda run, coins: run.release(laplace(2), np.eye(2), coins=coins),
    ),
    CorrelatedSteps: Drawing(_correlated, lambda steps, _: steps.add([[0.5, 0.5]], ["a"])),
    DrawnBatches: Drawing(lambda coins: drawn_places(_batches(), 3, coins=coins), lambda batches, _: list(batches)),
}
DRAWS_NOTHING = set(KINDS) - set(DRAWING) - {engine._Run}


def test_whatever_draws_is_tried() -> None:
    """Methods of the others ask no coins: their modules do not name them."""
    for kind in DRAWS_NOTHING:
        module = sys.modules[kind.__module__]
        assert not hasattr(module, "Coins") or kind.__module__.endswith(("interoperation.opacus",)), kind


@pytest.mark.parametrize("error", [OSError("no entropy"), KeyboardInterrupt()], ids=["error", "interruption"])
@pytest.mark.parametrize("kind", DRAWING, ids=lambda kind: kind.__name__)
def test_coins_that_fail_leave_no_half(kind: type[SpendingState], error: BaseException) -> None:
    drawing = DRAWING[kind]

    def begun(at: int) -> tuple[Any, Failing, Coins]:
        source = Failing(at, error)
        coins = Coins(source)
        return drawing.make(coins), source, coins

    def again(made: Any, source: Failing, coins: Coins) -> tuple[Any, Any]:
        held = snapshot(made)
        source.mended(9)
        return held, np.array(drawing.draw(made, coins), dtype=object).tolist()

    whole = begun(0)
    unchanged = again(*begun(0))
    drawing.draw(whole[0], whole[2])
    expected = [str(unchanged)]
    try:
        expected.append(str(again(*whole)))
    except CertdpError:  # the run is over
        assert kind is DrawnBatches
    failed = 0
    for at in count(1):
        made, source, coins = begun(at)
        try:
            drawing.draw(made, coins)
        except type(error):
            failed += 1
        else:
            break
        try:
            assert str(again(made, source, coins)) in expected, at
        except CertdpError:
            assert kind is DrawnBatches or isinstance(made, CorrelatedSteps)
    assert failed


@pytest.mark.slow
@pytest.mark.parametrize("error", [OSError("no entropy"), KeyboardInterrupt()], ids=["error", "interruption"])
def test_training_goes_on_after_coins_that_failed(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that failed is lost: it stays paid and is not drawn again, and every other one is drawn once."""
    drawn = 0
    noisy_sum = step_sums.noisy_sum

    def counted(*given: Any) -> Any:
        nonlocal drawn
        found = noisy_sum(*given)
        drawn += 1
        return found

    monkeypatch.setattr(engine, "noisy_sum", counted)
    steps = RENYI.epochs * RENYI.steps_per_epoch
    for at in count(1):
        source, account = Failing(at, error), open_account(RENYI)
        run, drawn = engine._Run(_records(), account, None, Coins(source), None, None), 0
        try:
            run.finished()
        except type(error):
            source.mended(9)
            run.finished()
        else:
            assert (drawn, at > steps) == (steps, True)
            break
        assert drawn in (steps, steps - 1), at
        assert account.steps_paid == RENYI.steps_per_epoch
        assert 0 < account.spent() <= 8
