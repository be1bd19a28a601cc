"""Kills one mutant: plants it in a fresh process and runs its guards until the first that is not as expected."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache, partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn, Protocol, final

from attrs import evolve, frozen

from ...plugins.contract import Case, Claim, Expectation, Finding
from ...plugins.forks import end_with_parent
from ...plugins.registry import Registry
from ..examination import check
from ..runner import select
from .mutants import PACKAGE

EXAMPLES = 24
"""Cases per claim."""
SEED = 0
_MEMORY = 4 * 2**30
_WALL = 20  # times the processor time that is granted: others use the machine, too


class Guards(Protocol):
    """What must notice a mutant."""

    @property
    def claims(self) -> tuple[str, ...]:
        """Globs on the ids of claims, in the order in which they are run."""
        ...

    @property
    def tests(self) -> tuple[str, ...]:
        """Files of tests, or single ones."""
        ...


class Outcome(Enum):
    """What became of a process with a mutant in it."""

    KILLED = "killed"
    TIMED_OUT = "timed out"
    SURVIVED = "survived"
    BROKEN = "broken"


@final
@frozen
class Ending:
    """How the guards of a module took to a mutant.

    Attributes:
        outcome: what became of it.
        by: the guard that noticed; empty where none did.
        seconds: processor time of the guards.
    """

    outcome: Outcome
    by: str
    seconds: float


def attempt(guards: Guards, planting: Callable[[], None], seconds: float, tests: Path | None) -> Ending:
    """Run guards with a mutant planted, or without one, in a fresh process.

    Args:
        guards: claims and tests.
        planting: plants the mutant; or does nothing, to see whether the guards are as expected where nothing is wrong.
        seconds: of processor time, beyond which the mutant is taken to loop.
        tests: the folder that the test files are relative to; None to do without them.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([f"{PACKAGE}.verification.mutation.warm"])
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_in_child, args=(sender, guards, planting, seconds, tests))
    child.start()
    sender.close()
    try:
        if not receiver.poll(_WALL * seconds):
            return Ending(Outcome.TIMED_OUT, "", seconds)
        ending: Ending = receiver.recv()
        return ending
    except EOFError:
        child.join()
        if child.exitcode == -signal.SIGXCPU:
            return Ending(Outcome.TIMED_OUT, "", seconds)
        return Ending(Outcome.KILLED, f"the process ended with status {child.exitcode}", seconds)
    finally:
        child.kill()
        child.join()
        receiver.close()


def _in_child(
    sender: Connection, guards: Guards, planting: Callable[[], None], seconds: float, tests: Path | None
) -> None:
    def tell(outcome: Outcome, by: str) -> NoReturn:
        sender.send(Ending(outcome, by, time.process_time()))
        sender.close()
        os._exit(0)

    end_with_parent()
    try:
        _limit(math.ceil(seconds))
        claims = _chosen(guards.claims)
        planting()
    except Exception as problem:
        tell(Outcome.BROKEN, f"{type(problem).__name__}: {problem}")
    for claim in claims:
        refuted = partial(tell, Outcome.KILLED, claim.id)
        if not check(_watched(claim, refuted), EXAMPLES, SEED).passed:
            refuted()
    if tests and guards.tests and _tested([f"{tests}/{test}" for test in guards.tests]):
        tell(Outcome.KILLED, guards.tests[0].partition("::")[0])
    tell(Outcome.SURVIVED, "")


def _limit(seconds: int) -> None:
    """Bound what this process may take, and let it print nothing."""
    import resource  # where processes can be forked, there it is

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    with contextlib.suppress(ValueError, OSError):  # where the system grants less, or does not say what is used
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _watched(claim: Claim, refuted: Callable[[], NoReturn]) -> Claim:
    """The claim, with a word at the first case that is not as expected: nothing is shrunk or proven."""

    def examine(case: Case) -> Finding:
        try:
            finding = claim.examine(case)
            holds = finding.holds
        except Exception:
            refuted()
        if not holds:
            refuted()
        return finding

    return evolve(claim, examine=examine, prove=None)


@cache
def holding_claims() -> tuple[Claim, ...]:
    """The library's own claims but for negative controls, which show what a claim can see, not what is so."""
    claims, _ = Registry(third_party=False).claims()
    return tuple(claim for claim in claims if claim.expectation is Expectation.HOLDS)


def _chosen(patterns: Iterable[str]) -> list[Claim]:
    """The claims that match, in the order of the patterns, each once."""
    chosen: dict[str, Claim] = {}
    for pattern in patterns:
        chosen |= {claim.id: claim for claim in select(holding_claims(), pattern) if claim.id not in chosen}
    return list(chosen.values())


def _tested(tests: list[str]) -> int:
    """The status that pytest ends with, in this process: 0 where all is well."""
    import hypothesis
    import pytest

    hypothesis.settings.register_profile("unhurried", deadline=None)  # a case may be slow where others use the machine
    hypothesis.settings.load_profile("unhurried")
    without = [option for name in ("cacheprovider", "hypothesispytest", "xdist") for option in ("-p", f"no:{name}")]
    return int(pytest.main(["-x", "-q", "--tb=no", "--assert=plain", *without, *tests]))
