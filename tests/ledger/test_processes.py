"""Many processes on one ledger, and processes that are killed: never one cost more, no output unpaid or drawn twice."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from certdp import ADD_REMOVE, RECORD, Ledger
from certdp.accounting.filters import BudgetExceeded, PureFilter
from certdp.accounting.notions import Pure
from certdp.ledger import OutputLost, RequestState
from certdp.plugins.forks import can_fork
from tests.support.children import ended, in_child
from tests.support.ledgers import CASES, Case, cost, number

pytestmark = pytest.mark.skipif(not can_fork(), reason="needs processes that fork")

TENTH = cost(Pure(number("1/40")))
BUDGET = PureFilter(Pure(number(1)), relation=ADD_REMOVE, unit=RECORD)
ADMISSIBLE = 40


@pytest.mark.parametrize("processes", [3, pytest.param(20, marks=pytest.mark.soundness)])
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_processes_together_pay_exactly_what_is_admissible(case: Case, processes: int, tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a.ledger", case.rule(), data="census", anchor=tmp_path / "anchor")

    def pay(name: int) -> Callable[[], None]:
        def until_refused() -> None:
            with suppress(BudgetExceeded):
                for each in count():
                    assert ledger.pay(case.cost, request=f"{name}: {each}").new

        return until_refused

    children = [in_child(pay(name)) for name in range(processes)]
    assert {ended(child) for child in children} == {0}
    assert ledger.number == case.admissible
    assert ledger.verify().sound


def test_processes_with_one_id_draw_once(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a.ledger", BUDGET, data="census")
    drawn = tmp_path / "drawn"

    def release() -> None:
        with suppress(OutputLost):
            ledger.release(TENTH, lambda: noted(drawn, "one"), request="one")

    children = [in_child(release) for _ in range(6)]
    assert {ended(child) for child in children} == {0}
    assert drawn.read_text() == "one\n"
    assert ledger.release(TENTH, lambda: b"", request="one").content == b"output of one"
    assert ledger.number == 1


def noted(drawn: Path, request: str) -> bytes:
    """Draw an output, and note that it was drawn."""
    with drawn.open("a") as file:
        file.write(f"{request}\n")
    return f"output of {request}".encode()


class Killed:
    """A process that kills itself when it has come so far: statements, draws and answers are counted."""

    def __init__(self, ledger: Ledger, drawn: Path, given: Path) -> None:
        self.ledger = ledger
        self.drawn = drawn
        self.given = given
        self.left = 0

    def point(self, *_: object) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def release(self, request: str) -> None:
        def draw() -> bytes:
            self.point()
            output = noted(self.drawn, request)
            self.point()
            return output

        self.ledger._store.connections.get().set_trace_callback(self.point)  # type: ignore[attr-defined]
        output = self.ledger.release(TENTH, draw, request=request)
        self.point()
        with self.given.open("a") as file:
            file.write(f"{request}\t{output.content.decode()}\n")
        self.point()

    def ends_after(self, points: int, request: str) -> bool:
        """Whether it was killed at that point, or else went through."""
        self.left = points
        return ended(in_child(lambda: self.release(request))) == -signal.SIGKILL


def settled(ledger: Ledger, drawn: Path, given: Path, requests: list[str]) -> None:
    """Ask for everything again, fill the ledger, and look for what must not be."""
    lost = set[str]()
    for request in requests:
        before = ledger.state(request)
        try:
            output = ledger.release(TENTH, lambda name=request: noted(drawn, name), request=request)  # type: ignore[misc]
        except OutputLost:
            assert before is RequestState.BEGUN
            lost.add(request)
            continue
        assert output.content == f"output of {request}".encode()
        assert output.new is (before is None)
    draws = drawn.read_text().split("\n")[:-1]
    assert len(set(draws)) == len(draws), "drawn twice"
    outputs = dict(line.split("\t") for line in given.read_text().splitlines()) if given.exists() else {}
    assert not set(outputs) & lost, "given out and lost"
    assert all(ledger.output(request).content.decode() == text for request, text in outputs.items())
    assert ledger.number == len(requests)
    for each in range(ADMISSIBLE - len(requests)):
        ledger.pay(TENTH, request=f"fill {each}")
    with pytest.raises(BudgetExceeded):
        ledger.pay(TENTH, request="more")
    assert ledger.verify().sound


@pytest.fixture
def killed(tmp_path: Path) -> Killed:
    ledger = Ledger.create(tmp_path / "a.ledger", BUDGET, data="census", anchor=tmp_path / "anchor")
    (tmp_path / "drawn").touch()
    return Killed(ledger, tmp_path / "drawn", tmp_path / "given")


def test_a_kill_at_each_statement_draw_and_answer_loses_no_payment(killed: Killed) -> None:
    requests = list[str]()
    for points in count(1):
        requests.append(f"killed at {points}")
        if not killed.ends_after(points, requests[-1]):
            break
    assert 20 < len(requests) < ADMISSIBLE, "statements of two transactions"
    settled(killed.ledger, killed.drawn, killed.given, requests)


@pytest.mark.soundness
@pytest.mark.parametrize("seed", range(6))
def test_kills_at_random_points_lose_no_payment(killed: Killed, seed: int) -> None:
    coins = random.Random(seed)
    requests = list[str]()
    for each in range(ADMISSIBLE - 3):
        requests.append(f"request {each}")
        while killed.ends_after(coins.randint(1, 30), requests[-1]) and coins.random() < 0.5:
            pass  # and again, under the same id
        assert killed.ledger.verify().sound
    settled(killed.ledger, killed.drawn, killed.given, requests)


@pytest.mark.soundness
@pytest.mark.parametrize("seed", range(3))
def test_kills_at_random_times_lose_no_payment(killed: Killed, seed: int) -> None:
    """Three workers at a time, of which one is killed, wherever it is."""
    coins = random.Random(seed)
    names = [f"request {each}" for each in range(ADMISSIBLE)]

    def work() -> None:
        for name in names:
            with suppress(OutputLost):
                killed.ledger.release(TENTH, lambda name=name: noted(killed.drawn, name), request=name)  # type: ignore[misc]
        time.sleep(60)

    children = [in_child(work) for _ in range(3)]
    for _ in range(20):
        time.sleep(coins.uniform(0.001, 0.08))
        one = children.pop(coins.randrange(3))
        os.kill(one, signal.SIGKILL)
        assert ended(one) == -signal.SIGKILL
        children.append(in_child(work))
    for one in children:
        os.kill(one, signal.SIGKILL)
        ended(one)
    settled(killed.ledger, killed.drawn, killed.given, [name for name in names if killed.ledger.state(name)])
