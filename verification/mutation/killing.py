"""A bench on which mutants are killed: one process has the guards loaded, and forks a fresh one for each mutant."""

from __future__ import annotations

import contextlib
import gc
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

from attrs import evolve, field, frozen

from ...plugins.contract import Case, Claim, Expectation, Finding
from ...plugins.forks import end_with_parent, forked
from ...plugins.registry import Registry
from ..running.examination import check
from ..running.runner import select
from .guarded import modules, reason
from .mutants import PACKAGE
from .planting import CannotBeImported, CannotBePlanted, loaded_functions, memories
from .tracing import Probes, Touched

EXAMPLES = 24
"""Cases per claim."""
SEED = 0
_MEMORY = 4 * 2**30
_SLOWER, _LEAST_SECONDS = 3, 5.0
_LOOK_SECONDS = 5.0  # of wall time, after which one looks whether a process still works
_ASLEEP = 24  # looks in a row at which it did not

Plant = Callable[[], None]


class Outcome(Enum):
    """What became of a process with a mutant in it."""

    KILLED = "killed"
    TIMED_OUT = "timed out"
    SURVIVED = "survived"
    UNPLANTED = "not planted"
    BROKEN = "broken"


@final
@frozen
class Ending:
    """How the guards of a module took to a mutant.

    Attributes:
        outcome: what became of it.
        by: the guard that noticed, or that did not end; empty where none did.
        tried: how many guards it was shown to, that one included.
        seconds: processor time of the guards.
    """

    outcome: Outcome
    by: str
    tried: int
    seconds: float


@final
@frozen
class Guard:
    """A claim, or a test with its parameters, as it is where nothing is wrong.

    Attributes:
        name: id of the claim, or of the test.
        is_claim: which of both.
        seconds: processor time that it takes while it is traced, alone.
        touched: the statements of the package that it executes.
        shared: the part of that time that goes into each thing that other tests may use as well, by a name of it.
    """

    name: str
    is_claim: bool
    seconds: float
    touched: Touched
    shared: Mapping[str, float] = field(factory=dict)

    @property
    def limit(self) -> float:
        """Seconds of processor time beyond which a mutant is taken to loop."""
        return _SLOWER * self.seconds + _LEAST_SECONDS


@final
@frozen
class _Trace:
    """Asks which statements guards execute: a claim by its id, or all tests of a file."""

    name: str
    is_claim: bool
    seconds: float


@final
@frozen
class _Attempt:
    """Asks for what the guards say of a mutant: their names, whether they are claims, and their limits in seconds."""

    planting: Plant
    guards: tuple[tuple[str, bool, float], ...]


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
        """End the process of the bench."""
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

    def attempt(self, planting: Plant, guards: Iterable[Guard]) -> Ending:
        """Run guards with a mutant planted, until the first that is not as expected.

        Args:
            planting: plants the mutant.
            guards: claims, and tests of the files that the bench was given, in the order in which they are run.
        """
        self._ours.send(_Attempt(planting, tuple((guard.name, guard.is_claim, guard.limit) for guard in guards)))
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
    _with_tests(tests, lambda items: _answer(connection, items))


def _with_tests(files: Sequence[str], use: Callable[[Mapping[str, Any]], None]) -> None:
    """Have pytest collect files, and hand over their tests by id in the place of running them."""
    import hypothesis
    import pytest

    class Serving:
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session: Any) -> bool:
            use({item.nodeid: item for item in session.items})
            return True

    phases = hypothesis.Phase.explicit, hypothesis.Phase.generate  # any case that fails is enough: none is shrunk
    # a case may be slow where others use the machine
    hypothesis.settings.register_profile("unhurried", deadline=None, phases=phases)
    hypothesis.settings.load_profile("unhurried")
    without = [option for name in ("cacheprovider", "hypothesispytest", "xdist") for option in ("-p", f"no:{name}")]
    with tempfile.TemporaryDirectory() as folder:
        options = ["-q", "--tb=no", "--assert=plain", f"--basetemp={folder}/tests", *without]
        pytest.main([*options, *files], plugins=[Serving()])


def all_held(claims: Sequence[str], tests: Sequence[str], files: Sequence[str], seconds: int) -> bool:
    """Whether claims and tests of these files are as expected in this process, which ends after so many seconds."""
    _limit(seconds)
    if not all(_run_of(claim, True, {}, None)() for claim in claims):
        return False
    held: list[bool] = []

    def run(items: Mapping[str, Any]) -> None:
        chosen = [items[test] for test in tests]
        pairs = zip(chosen, [*chosen[1:], None], strict=True)
        held.append(all(_passes(item, after) is not False for item, after in pairs))

    if tests:
        _with_tests(files, run)
    return held == [True] * bool(tests)


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _answer(connection: Connection, items: Mapping[str, Any]) -> None:
    _settle(items)
    tracer: Connection | None = None
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        match request:
            case _Trace():
                if tracer is None:
                    tracer, theirs = multiprocessing.Pipe()
                    forked(_answer_traces, theirs, items)
                    theirs.close()
                tracer.send(request)
                connection.send(tracer.recv())
            case _Attempt():
                connection.send(_attempted(request, items))


def _settle(items: Mapping[str, Any]) -> None:
    """Find what every fork needs, and keep the collector from all that was loaded, so that forks share its memory.

    What is kept from the collector is not found, so that nothing may be at first.
    """
    gc.unfreeze()
    gc.collect()
    loaded_functions()
    memories(_in_scope())
    memories(_of_tests(items))
    gc.freeze()


@cache
def _in_scope() -> frozenset[str]:
    return frozenset(f"{PACKAGE}.{module}" for module in modules())


def _of_tests(items: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(item.module.__name__ for item in items.values() if hasattr(item, "module"))


def _forget() -> None:
    """Have functions forget results that a mutant may change."""
    for memory in memories(_in_scope()):
        memory.cache_clear()


def _answer_traces(connection: Connection, items: Mapping[str, Any]) -> None:
    probes = Probes.plant(module for module in modules() if reason(module) is None)
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        connection.send(_in_fork(partial(_traced, request, items, probes), request.seconds))


def _in_fork(job: Callable[[], object], seconds: float) -> object:
    """What the job returns in a forked process; None where it does not end, or not well."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = forked(_send, sender, job, math.ceil(seconds))
    sender.close()
    try:
        return receiver.recv() if _comes(receiver, child.pid) else None
    except EOFError:
        return None
    finally:
        child.kill()
        child.join()
        receiver.close()


def _comes(receiver: Connection, pid: int | None) -> bool:
    """Wait until something can be received; False where the process has been asleep for long instead."""
    asleep, worked = 0, -1.0
    while not receiver.poll(_LOOK_SECONDS):
        before, worked = worked, _work(pid)
        asleep = asleep + 1 if worked == before else 0
        if asleep == _ASLEEP:
            return False
    return True


def _work(pid: int | None) -> float:
    """Something that grows while a process works or waits for a processor; the same number where that is not told."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return time.monotonic() if told[0] in "RD" else float(told[11]) + float(told[12])


def _send(sender: Connection, job: Callable[[], object], seconds: int) -> None:
    _limit(seconds)
    sender.send(job())
    sender.close()
    os._exit(0)


def _limit(seconds: int) -> None:
    """Limit the processor time and the memory of this process."""
    import resource  # where processes can be forked, there it is

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    _limit_memory()


def _limit_memory() -> None:
    import resource

    with contextlib.suppress(ValueError, OSError):  # where the system grants less, or does not say what is used
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _traced(request: _Trace, items: Mapping[str, Any], probes: Probes) -> tuple[Guard, ...]:
    if request.is_claim:
        _forget()
        (claim,) = select(holding_claims(), request.name)
        held, seconds, touched = probes.touching(lambda: check(evolve(claim, prove=None), EXAMPLES, SEED).passed)
        return (Guard(claim.id, True, seconds, touched),) if held else ()
    from .sharing import Shared  # a plugin of pytest, which is there where tests are

    chosen = [item for item in items.values() if str(item.path) == request.name]
    shared = Shared(probes)
    shared.watch(memories(_of_tests(items)), {item.module for item in chosen if hasattr(item, "module")})
    if chosen:
        chosen[0].config.pluginmanager.register(shared)
    found = []
    for item, following in zip(chosen, [*chosen[1:], None], strict=True):
        _forget()
        if shared.run(item, partial(_passes, item, following)):
            found.append(item)
    costs = ((item.nodeid, shared.cost(item)) for item in found)
    return tuple(Guard(name, False, cost.seconds, cost.touched, cost.shared) for name, cost in costs)


def _attempted(request: _Attempt, items: Mapping[str, Any]) -> Ending:
    """What becomes of a fork with the mutant in it, which tells the number of each guard before it runs it."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = forked(_run_guards, sender, request, items)
    sender.close()
    at, told = -1, None
    try:
        while _comes(receiver, child.pid):
            told = receiver.recv()
            if isinstance(told, Ending):
                return told
            at = told
    except EOFError:
        child.join()
        if child.exitcode != -signal.SIGPROF:
            return Ending(Outcome.KILLED, f"the process ended with status {child.exitcode}", at + 1, 0.0)
    finally:
        child.kill()
        child.join()
        receiver.close()
    name, _, limit = request.guards[at]
    return Ending(Outcome.TIMED_OUT, name, at + 1, limit)


def _run_guards(sender: Connection, request: _Attempt, items: Mapping[str, Any]) -> None:
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    _limit_memory()
    sender.send(_ending(sender, request, items))
    sender.close()
    os._exit(0)


def _ending(sender: Connection, request: _Attempt, items: Mapping[str, Any]) -> Ending:
    def ended(outcome: Outcome, by: str, tried: int) -> Ending:
        signal.setitimer(signal.ITIMER_PROF, 0)
        return Ending(outcome, by, tried, time.process_time())

    try:
        following = [*(items.get(name) for name, _, _ in request.guards[1:]), None]
        runs = [
            _run_of(name, is_claim, items, after)
            for (name, is_claim, _), after in zip(request.guards, following, strict=False)
        ]
        request.planting()
        _forget()
    except CannotBeImported:
        return ended(Outcome.KILLED, "the import of its module", 0)
    except CannotBePlanted:
        return ended(Outcome.UNPLANTED, "", 0)
    except Exception as problem:
        return ended(Outcome.BROKEN, f"{type(problem).__name__}: {problem}", 0)
    for place, (run, (name, _, limit)) in enumerate(zip(runs, request.guards, strict=True)):
        sender.send(place)
        signal.setitimer(signal.ITIMER_PROF, limit)
        if not run():
            return ended(Outcome.KILLED, name, place + 1)
    return ended(Outcome.SURVIVED, "", len(runs))


def _run_of(name: str, is_claim: bool, items: Mapping[str, Any], following: Any) -> Callable[[], bool]:
    """What runs a guard and tells whether it is as expected, as it is where it is skipped."""
    if is_claim:
        (claim,) = select(holding_claims(), name)
        return partial(_holds, _watched(claim))
    return lambda: _passes(items[name], following) is not False


def _holds(claim: Claim) -> bool:
    try:
        return check(claim, EXAMPLES, SEED).passed
    except _Killed:
        return False


class _Killed(BaseException):
    """Leaves a claim at the first case that is not as expected: nothing is shrunk or proven."""


def _watched(claim: Claim) -> Claim:
    def examine(case: Case) -> Finding:
        try:
            finding = claim.examine(case)
            holds = finding.holds
        except Exception:
            raise _Killed from None
        if not holds:
            raise _Killed
        return finding

    return evolve(claim, examine=examine, prove=None)


def _passes(item: Any, following: Any) -> bool | None:
    """Whether a test passes; None where it is skipped."""
    from _pytest.runner import runtestprotocol

    reports = runtestprotocol(item, log=False, nextitem=following)
    if any(report.failed for report in reports):
        return False
    return None if any(report.skipped for report in reports) else True
