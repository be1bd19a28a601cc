"""Runs claims: each is searched for a case that contradicts it, here or in a process of its own.

A claim that should hold passes where no case contradicts it; a negative control passes where one does. A claim
whose examination breaks, hangs or ends its process is a failure that says why, and the others run on.
"""

from __future__ import annotations

import pickle
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

import attrs

from ...accounting.enclosures.arguments import whole
from ...accounting.errors import InvalidValue
from ...plugins.contract import Case, Claim
from ...plugins.forks import can_fork
from .examination import check
from .isolation import Crashed, Fate, Finished, Note, Overdue, admit_timeout, isolated
from .results import Example, Outcome, Report, Result
from .selection import chosen

__all__ = ["EXAMPLES", "Outcome", "Progress", "Report", "Result", "Tick", "run", "select"]

EXAMPLES = 300
"""Cases per claim where nothing else is asked for."""

Progress: TypeAlias = Callable[[Result], None]
"""Called with each result as soon as it is there."""

Tick: TypeAlias = Callable[[Sequence[Claim]], None]
"""Called with the claims that are being checked: where they have processes of their own, a few times a second."""


def select(claims: Iterable[Claim], *patterns: str) -> tuple[Claim, ...]:
    """The claims whose id matches one of the globs, such as "is/*".

    Raises:
        InvalidValue: where there are no claims at all, and for a glob that none matches; it names ids close to it.
    """
    everything = tuple(claims)
    if not everything:
        remedy = "Reinstall certdp, which brings claims of its own, or give others"
        raise InvalidValue("claims", "none", "at least one claim", remedy)
    return chosen(everything, lambda claim: (claim.id,), patterns, "claim")


def run(
    claims: Iterable[Claim],
    *,
    examples: int = EXAMPLES,
    seed: int = 0,
    timeout: float | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    tick: Tick | None = None,
) -> Report:
    """Check claims, one after the other or several at a time.

    Args:
        claims: what to check.
        examples: most cases to generate per claim; shrinking a witness examines some more.
        seed: of the search; nothing of one run is kept for the next.
        timeout: seconds that one claim may take. With it, or with several jobs, claims are checked in forked processes:
            one that hangs or crashes, in whatever code, is stopped and reported, and the others run on.
        jobs: how many claims to check at a time.
        progress: told each result.
        tick: told what is being checked.

    Guarantees:
        A claim passes only if at least one case was examined. Results are in the order of the claims, and but for
        their times neither `jobs` nor `timeout` changes those of claims that end in time.

    Raises:
        InvalidValue: for examples or jobs below 1, a seed below 0, a timeout that is not above 0, two claims of one id,
            and for a timeout or several jobs where the system cannot fork.
        InvalidType: for what are no numbers.
    """
    for name, value, least in (("examples", examples, 1), ("seed", seed, 0), ("jobs", jobs, 1)):
        whole(name, value, least)
    admit_timeout(timeout)
    apart = timeout is not None or jobs > 1
    if apart and not can_fork():
        parameter, asked = ("jobs", jobs) if timeout is None else ("timeout", timeout)
        raise InvalidValue(parameter, asked, "None and one job, as this system cannot fork", f"Leave {parameter} out")
    checked = tuple(claims)
    _refuse_contradictions(checked)
    started, clock = datetime.now(UTC), time.perf_counter()
    found: dict[int, Result] = {}
    look = tick or (lambda _: None)
    one_by_one = _apart(checked, examples, seed, jobs, timeout, look) if apart else _here(checked, examples, seed, look)
    for index, result in one_by_one:
        found[index] = result
        if progress is not None:
            progress(result)
    return Report(
        results=tuple(found[index] for index in range(len(checked))),
        seed=seed,
        examples=examples,
        timeout=timeout,
        started=started,
        seconds=time.perf_counter() - clock,
    )


def _refuse_contradictions(claims: Sequence[Claim]) -> None:
    """One id, one claim: else one name would be both confirmed and refuted."""
    known: dict[str, Claim] = {}
    for claim in claims:
        other = known.setdefault(claim.id, claim)
        if other is not claim:
            raise InvalidValue(
                "claims",
                claim.id,
                "claims that have an id each",
                f"Two claims have it, “{other.says}” ({other.expectation.value}) and “{claim.says}” "
                f"({claim.expectation.value}): rename one, or drop the one that is wrong",
            )


def _here(claims: Sequence[Claim], examples: int, seed: int, tick: Tick) -> Iterator[tuple[int, Result]]:
    for index, claim in enumerate(claims):
        tick((claim,))
        yield index, check(claim, examples, seed)


def _apart(
    claims: Sequence[Claim], examples: int, seed: int, jobs: int, timeout: float | None, tick: Tick
) -> Iterator[tuple[int, Result]]:
    import hypothesis  # noqa: F401  # once for all processes, and not in the time of their first claims

    def work(claim: Claim, note: Note) -> Mapping[str, Any]:
        """The result in parts: a claim itself cannot be sent."""
        result = check(claim, examples, seed, lambda tried, case: note((tried, _sendable_case(case))))
        parts = attrs.asdict(result, recurse=False, filter=lambda attribute, _: attribute.name != "claim")
        return {**parts, "witness": _sendable_case(result.witness), "example": _sendable_example(result.example)}

    for index, fate in isolated(claims, work, jobs=jobs, seconds=timeout, tick=tick):
        yield index, _result(claims[index], fate, timeout)


def _result(claim: Claim, fate: Fate[Mapping[str, Any]], timeout: float | None) -> Result:
    match fate:
        case Finished(parts):
            return Result(claim=claim, **parts)
        case Overdue(seconds, noted):
            return _unfinished(claim, Outcome.TIMEOUT, seconds, noted, f"stopped: it took longer than {timeout:g} s")
        case Crashed(exit_code, seconds, noted):
            return _unfinished(claim, Outcome.ERROR, seconds, noted, f"its process ended with {_ending(exit_code)}")


def _unfinished(
    claim: Claim, outcome: Outcome, seconds: float, noted: tuple[int, Case | None] | None, error: str
) -> Result:
    tried, case = noted or (0, None)
    return Result(
        claim=claim,
        outcome=outcome,
        cases_tried=tried,
        witness=case,
        finding=None,
        proof=None,
        seconds=seconds,
        error=error,
    )


def _ending(exit_code: int | None) -> str:
    if exit_code is None or exit_code >= 0:
        return f"exit code {exit_code}"
    try:
        return f"signal {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"signal {-exit_code}"


def _sendable_case(case: Case | None) -> Case | None:
    return None if case is None else _sendable_values(case)


def _sendable_example(example: Example | None) -> Example | None:
    return None if example is None else attrs.evolve(example, case=_sendable_values(example.case))


def _sendable_values(case: Case) -> Case:
    return {name: _sendable(value) for name, value in case.items()}


def _sendable(value: object) -> object:
    """`value`, or what it reads as where it cannot be sent to another process."""
    try:
        pickle.loads(pickle.dumps(value))
    except Exception:
        return str(value)
    return value
