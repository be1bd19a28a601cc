"""`certdp audit`: whether runs of a release on neighbouring inputs contradict a claimed (ε, δ)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

from attrs import frozen
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidValue
from ..accounting.exact import exact
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.releases import Releases
from ..accounting.units import Delta, Epsilon
from ..audits import AnyRun, RunAudit, audit_run, neighbours_among
from ..data import read_records
from ..plugins.contract import Coins, LossSampler
from ..plugins.registry import Registry, Role
from ..runs.constrained import ConstrainedReleases
from ..verification.audit import Count
from .account import run_of
from .advice import about_options, advising
from .composition import Composition, KeyedComposition, chosen
from .output import Output
from .plan import plan_of
from .psi.request import domain_of

_DIMENSION = 2
_CLAIM = "epsilon=E,delta=D, of which either may be left out"
_WRITTEN = "Write it like --claim epsilon=1,delta=1e-5"
_SHARE_OF_AUDITS = "Give a share of all audits, such as --confidence 0.999"
_DEFAULT_SAMPLERS = {False: "full", True: "every-key"}
"""What draws every record, and every key."""


@frozen(kw_only=True)
class Request:
    """The command's arguments."""

    mechanism: str
    sampler: str | None
    options: list[str]
    resample: str | None
    steps: int
    claim: str | None
    trials: int
    confidence: str
    neighbours: Path | None
    seed: int | None
    one_by_one: bool
    third_party: bool
    allow: list[str] | None


def run(request: Request, output: Output) -> None:
    """Audit the run; fail where the claim is refuted."""
    with advising({"epsilon": _WRITTEN, "delta": _WRITTEN}):
        epsilon, delta = _claim(request.claim)
    plan = plan_of(request.resample, request.steps)
    sampler = _sampler(request)
    with advising(about_options(request.options)):
        given = chosen(
            request.mechanism, sampler, request.options, third_party=request.third_party, allow=request.allow
        )
        audited, domain = _run(given, plan)
    neighbours = None if request.neighbours is None else neighbours_among(audited, read_records(request.neighbours))
    with advising({"confidence": _SHARE_OF_AUDITS}), _progress(2 * request.trials, output) as advance:
        found = audit_run(
            audited,
            domain,
            claimed=epsilon,
            delta=delta,
            runs=request.trials,
            confidence=request.confidence,
            neighbours=neighbours,
            coins=None if request.seed is None else Coins.seeded(request.seed),
            one_by_one=request.one_by_one,
            progress=advance,
        )
    data = _as_json(request, sampler, found)
    output.show(data, lambda console: _print(console, request, sampler, found))
    if found.refuted:
        output.fail()


def _claim(text: str | None) -> tuple[Epsilon | None, Delta | None]:
    """The claimed ε and δ, each None where it is not stated."""
    stated: dict[str, str] = {}
    for part in [] if text is None else text.split(","):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name not in {"epsilon", "delta"} or not value or name in stated:
            raise InvalidValue("claim", text, _CLAIM, _WRITTEN)
        stated[name] = value
    epsilon, delta = (
        None if name not in stated else exact(stated[name], parameter=name) for name in ("epsilon", "delta")
    )
    return None if epsilon is None else Epsilon(epsilon), None if delta is None else Delta(delta)


def _sampler(request: Request) -> str:
    if request.sampler is not None:
        return request.sampler
    kind = Registry(third_party=request.third_party, allow=request.allow).get(Role.MECHANISM, request.mechanism)
    return _DEFAULT_SAMPLERS[hasattr(kind, "reporting")]


def _run(given: Composition | KeyedComposition, plan: Releases) -> tuple[AnyRun, NormBall | None]:
    match given:
        case KeyedComposition():
            return given.run(plan), None
        case Composition(sampler=LossSampler()):
            solved = ConstrainedReleases(mechanism=given.mechanism, sampler=given.sampler, releases=plan)
            columns = _whole(given.run.get("dimension", str(_DIMENSION)))
            return solved, domain_of(given.run, solved.norm, solved.features, columns)
    return run_of(given, plan), None


def _whole(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise InvalidValue("dimension", text, "a whole number ≥ 1")
    return int(text)


_Advance: TypeAlias = Callable[[int], None]


@contextmanager
def _progress(total: int, output: Output) -> Iterator[_Advance | None]:
    """A progress bar where someone watches."""
    terminal = Console(stderr=True)
    if output.as_json or not terminal.is_terminal:
        yield None
        return
    columns = (TextColumn("auditing"), BarColumn(), TextColumn("{task.completed:,} runs"), TimeRemainingColumn())
    with Progress(*columns, console=terminal, transient=True) as bar:
        task = bar.add_task("audit", total=total)
        yield lambda done: bar.advance(task, done)


def _as_json(request: Request, sampler: str, audited: RunAudit) -> dict[str, Any]:
    found = audited.found
    inputs = ("first", "second") if found.first_is_likelier else ("second", "first")
    return {
        "mechanism": request.mechanism,
        "sampler": sampler,
        "resample": request.resample,
        "steps": request.steps,
        "claim": {
            "epsilon": _float_up(audited.claimed),
            "delta": float(found.delta.value),
            "source": _SOURCES[audited.proven],
        },
        "trials": request.trials,
        "confidence": float(found.confidence),
        "inputs": audited.difference,
        "search": {"tried": audited.search.tried, "runs": request.trials - audited.search.left},
        "event": {
            "statistic": found.event.statistic.name,
            "threshold": found.event.threshold if isfinite(found.event.threshold) else None,
            "above": found.event.above,
        },
        "counts": {
            name: {"hits": count.hits, "trials": count.trials}
            for name, count in zip(inputs, (found.likelier, found.rarer), strict=True)
        },
        "epsilon_lower": found.lower,
        "refuted": audited.refuted,
        "power": audited.power.as_json(),
        "seed": request.seed,
    }


_SOURCES = {True: "proven by certdp", False: "given"}


def _float_up(epsilon: Epsilon) -> float:
    return Enclosure.of(epsilon.value).upper_float


def _print(console: Console, request: Request, sampler: str, audited: RunAudit) -> None:
    found = audited.found
    times = "" if request.steps == 1 else f", {request.steps:,} releases"
    console.print(f"[bold]{request.mechanism}[/bold] on a sample drawn by [bold]{sampler}[/bold]{times}")
    source = "what certdp proves" if audited.proven else "as claimed"
    verdict = "[red]refuted[/red]" if audited.refuted else "not refuted"
    console.print(f"  ε = {float(audited.claimed.value):.6g} at δ = {found.delta}, {source}: [bold]{verdict}[/bold]")
    console.print(f"  ε ≥ {found.lower:.6g} with confidence {float(found.confidence)}", markup=False)
    search = audited.search
    among = f", of {search.tried} tried on other runs" if search.tried else ""
    console.print(f"  inputs: {audited.difference}{among}", markup=False)
    console.print(f"  event: {found.event}, chosen on other runs", markup=False)
    names = ("first", "second") if found.first_is_likelier else ("second", "first")
    for name, count in zip(names, (found.likelier, found.rarer), strict=True):
        console.print(f"    in {count} runs on the {name} input ({_share(count)})", markup=False)
    console.print(f"  power: {audited.power}", markup=False)
    if not audited.refuted:
        console.print("  that proves no ε: an audit can refute a claim, never confirm one", markup=False)


def _share(count: Count) -> str:
    return f"{count.hits / count.trials:.4%}"
