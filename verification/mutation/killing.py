"""A bench on which mutants are killed: one process has the guards loaded, and forks a fresh one for each mutant."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import cache, partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, final

from attrs import evolve, frozen

from ...plugins.contract import Case, Claim, Expectation, Finding
from ...plugins.forks import end_with_parent, forked
from ...plugins.registry import Registry
from ..examination import check
from ..runner import select
from .mutants import PACKAGE
from .tracing import Touched, touching

EXAMPLES = 24
"""Cases per claim."""
SEED = 0
_MEMORY = 4 * 2**30
_WALL = 20  # times the processor time that is granted: others use the machine, too

Plant = Callable[[], None]


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


@final
@frozen
class Guard:
    """A claim, or a test with its parameters, as it is where nothing is wrong.

    Attributes:
        name: id of the claim, or of the test.
        is_claim: which of both.
        seconds: processor time that it takes while it is traced.
        touched: the functions of the package that it executes; None where that is not known.
    """

    name: str
    is_claim: bool
    seconds: float
    touched: Touched | None


@final
@frozen
class _Trace:
    """Asks which functions guards execute: a claim by its id, or all tests of a file."""

    name: str
    is_claim: bool
    seconds: float


@final
@frozen
class _Attempt:
    """Asks for what the guards say of a mutant."""

    planting: Plant
    claims: tuple[str, ...]
    tests: tuple[str, ...]
    seconds: float


class Bench:
    """A process with claims and tests loaded, until it is closed.

    Args:
        tests: files of tests, as absolute paths.
    """

    def __init__(self, tests: Sequence[Path]) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([f"{PACKAGE}.verification.mutation.warm"])
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, tuple(map(str, tests))))
        self._process.start()
        theirs.close()

    def close(self) -> None:
        """End the process."""
        self._ours.close()  # at which it ends by itself
        self._process.join(10)
        self._process.kill()
        self._process.join()

    def trace(self, name: str, *, is_claim: bool, seconds: float) -> tuple[Guard, ...] | None:
        """Run a claim, or the tests of a file, where nothing is wrong.

        Returns:
            The guards that are as expected there; None where they do not end within so many seconds.
        """
        self._ours.send(_Trace(name, is_claim, seconds))
        found: tuple[Guard, ...] | None = self._ours.recv()
        return found

    def attempt(self, planting: Plant, guards: Iterable[Guard], seconds: float) -> Ending:
        """Run guards with a mutant planted, until the first that is not as expected.

        Args:
            planting: plants the mutant.
            guards: claims, which are run first, and tests of the files that the bench was given.
            seconds: of processor time, beyond which the mutant is taken to loop.
        """
        chosen = tuple(guards)
        claims, tests = (tuple(g.name for g in chosen if g.is_claim is kind) for kind in (True, False))
        self._ours.send(_Attempt(planting, claims, tests, seconds))
        ending: Ending = self._ours.recv()
        return ending


@cache
def holding_claims() -> tuple[Claim, ...]:
    """The library's own claims but for negative controls, which show what a claim can see, not what is so."""
    claims, _ = Registry(third_party=False).claims()
    return tuple(claim for claim in claims if claim.expectation is Expectation.HOLDS)


def claims_matching(patterns: Iterable[str]) -> tuple[str, ...]:
    """The ids of the claims that match, in the order of the patterns, each once."""
    return tuple(dict.fromkeys(claim.id for pattern in patterns for claim in select(holding_claims(), pattern)))


def _serve(connection: Connection, tests: tuple[str, ...]) -> None:
    """Answer requests until the other end is closed."""
    end_with_parent()
    _silence()
    if not tests:
        _answer(connection, {})
        return
    import hypothesis
    import pytest

    class Serving:
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session: Any) -> bool:
            _answer(connection, {item.nodeid: item for item in session.items})
            return True

    hypothesis.settings.register_profile("unhurried", deadline=None)  # a case may be slow where others use the machine
    hypothesis.settings.load_profile("unhurried")
    without = [option for name in ("cacheprovider", "hypothesispytest", "xdist") for option in ("-p", f"no:{name}")]
    with tempfile.TemporaryDirectory() as folder:
        options = ["-q", "--tb=no", "--assert=plain", f"--basetemp={folder}/tests", *without]
        pytest.main([*options, *tests], plugins=[Serving()])


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _answer(connection: Connection, items: Mapping[str, Any]) -> None:
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        match request:
            case _Trace():
                answer = _in_fork(partial(_traced, request, items), request.seconds)
                connection.send(answer if isinstance(answer, tuple) else None)
            case _Attempt():
                connection.send(_ending(_in_fork(partial(_attempted, request, items), request.seconds), request))


def _ending(answer: object, request: _Attempt) -> Ending:
    if isinstance(answer, Ending):
        return answer
    if answer in (None, -signal.SIGXCPU):
        return Ending(Outcome.TIMED_OUT, "", request.seconds)
    return Ending(Outcome.KILLED, f"the process ended with status {answer}", request.seconds)


def _in_fork(job: Callable[[], object], seconds: float) -> object:
    """What the job returns in a forked process, or the status that it ends with; None where it never ends."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = forked(_send, sender, job, math.ceil(seconds))
    sender.close()
    try:
        if not receiver.poll(_WALL * seconds):
            return None
        return receiver.recv()
    except EOFError:
        child.join()
        return child.exitcode
    finally:
        child.kill()
        child.join()
        receiver.close()


def _send(sender: Connection, job: Callable[[], object], seconds: int) -> None:
    _limit(seconds)
    sender.send(job())
    sender.close()
    os._exit(0)


def _limit(seconds: int) -> None:
    """Bound what this process may take."""
    import resource  # where processes can be forked, there it is

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    with contextlib.suppress(ValueError, OSError):  # where the system grants less, or does not say what is used
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _traced(request: _Trace, items: Mapping[str, Any]) -> tuple[Guard, ...]:
    if request.is_claim:
        (claim,) = select(holding_claims(), request.name)
        held, seconds, touched = touching(lambda: check(evolve(claim, prove=None), EXAMPLES, SEED).passed)
        return (Guard(claim.id, True, seconds, touched),) if held else ()
    chosen = [item for item in items.values() if str(item.path) == request.name]
    found = []
    for item, following in zip(chosen, [*chosen[1:], None], strict=True):
        passed, seconds, touched = touching(partial(_passes, item, following))
        if passed:
            found.append(Guard(item.nodeid, False, seconds, touched))
    return tuple(found)


def _attempted(request: _Attempt, items: Mapping[str, Any]) -> Ending:
    def killed(by: str) -> Ending:
        return Ending(Outcome.KILLED, by, time.process_time())

    try:
        claims = [claim for name in request.claims for claim in select(holding_claims(), name)]
        tests = [items[name] for name in request.tests]
        request.planting()
    except Exception as problem:
        return Ending(Outcome.BROKEN, f"{type(problem).__name__}: {problem}", time.process_time())
    for claim in claims:
        try:
            held = check(_watched(claim), EXAMPLES, SEED).passed
        except _Noticed:
            held = False
        if not held:
            return killed(claim.id)
    for item, following in zip(tests, [*tests[1:], None], strict=bool(tests)):
        if _passes(item, following) is False:
            return killed(item.nodeid.rpartition("tests/")[2])
    return Ending(Outcome.SURVIVED, "", time.process_time())


class _Noticed(BaseException):
    """Leaves a claim at the first case that is not as expected: nothing is shrunk or proven."""


def _watched(claim: Claim) -> Claim:
    def examine(case: Case) -> Finding:
        try:
            finding = claim.examine(case)
            holds = finding.holds
        except Exception:
            raise _Noticed from None
        if not holds:
            raise _Noticed
        return finding

    return evolve(claim, examine=examine, prove=None)


def _passes(item: Any, following: Any) -> bool | None:
    """Whether a test passes; None where it is skipped."""
    from _pytest.runner import runtestprotocol

    reports = runtestprotocol(item, log=False, nextitem=following)
    if any(report.failed for report in reports):
        return False
    return None if any(report.skipped for report in reports) else True
