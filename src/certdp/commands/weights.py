"""`certdp weights`: the weight and the probability of every record of a file, written for the data's owner."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ..accounting.derivation import Derivation
from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.expressions import norm
from ..accounting.expressions.suprema import NoFiniteSupremum
from ..accounting.feasible_weights import Reach
from ..accounting.feasible_weights.rates import ConstrainedRate
from ..accounting.notions import APPROXIMATE, PURE, RENYI, Approximate, Bound, Pure, Renyi
from ..accounting.sampling.clipping import Outside
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.releases import Releases
from ..data import Reading, Records, open_records
from ..durable.files import Rank, published
from ..plugins.contract import options
from ..plugins.registry import Registry, Role
from ..records.weights import Run, Weighting, put_weights, require_weights_path, weigh
from ..runs.constrained import ConstrainedReleases
from ..runs.sampled import SampledMechanism, declared_loss, drawing_of, statement_of
from .composition import Composition, composed
from .output import Output
from .outputs import check_places, checked_certificate
from .plan import plan_of
from .psi.request import domain_of, outside_of

_NO_FIGURES: Mapping[str, Any] = {"epsilon": None, "delta": None, "order": None, "tau": None}
_LONG = 2_000_000  # entries from which a progress bar is worth it


@frozen(kw_only=True)
class Request:
    """The command's arguments."""

    mechanism: str
    sampler: str
    target: str | None
    delta: str | None
    order: str | None
    resample: str | None
    steps: int
    options: list[str]
    data: Path
    reading: Reading
    outside: str
    output: Path
    certificate: Path | None
    third_party: bool
    allow: list[str] | None

    @property
    def all_options(self) -> list[str]:
        """The options with the target among them.

        Raises:
            InvalidValue: for a part of the target that the sampler does not have.
        """
        registry = Registry(third_party=self.third_party, allow=self.allow)
        parts = [("target-epsilon", "target", self.target), ("delta", "delta", self.delta)]
        parts.append(("order", "order", self.order))
        stated = [(flag, name, value) for flag, name, value in parts if value is not None]
        if not stated:
            return self.options
        known = {option.name for option in options(registry.get(Role.SAMPLER, self.sampler))}
        for flag, name, value in stated:
            if name not in known:
                raise InvalidValue(
                    flag,
                    value,
                    f"nothing, for sampler {self.sampler}: it has no {name}",
                    "Leave it out, or use --sampler privacy-constrained",
                )
        return [*self.options, *(f"sampler.{name}={value}" for _, name, value in stated)]


@frozen(kw_only=True)
class _Proven:
    """What holds for every record of the domain, or for every record that is drawn where there is none.

    Attributes:
        derivation: the theorem, with its assumptions.
        notion: of the loss.
        figures: the loss and what goes with it, as JSON has them: epsilon, delta, order and tau.
        gap: whether the gap to the largest weights is proven too.
    """

    derivation: Derivation
    notion: str
    figures: Mapping[str, Any]
    gap: bool = True


@frozen(kw_only=True)
class _Asked:
    """The run that is weighed, and how it is proven.

    Attributes:
        run: mechanism, sampler and plan.
        prove: what holds on a domain, whose radius is given in words.
    """

    run: Run
    prove: Callable[[NormBall | None, str], _Proven]


def run(request: Request, output: Output) -> None:
    """Compose, prove and certify; then read, weigh and write."""
    plan = plan_of(request.resample, request.steps)
    given = composed(
        request.mechanism, request.sampler, request.all_options, third_party=request.third_party, allow=request.allow
    )
    asked = _asked(given, plan)
    outside = outside_of(request.outside, "radius" in given.run)
    require_weights_path(request.output)
    check_places(request.data, {"output": request.output, "certificate": request.certificate})
    with open_records(request.data, request.reading) as records:
        domain = domain_of(given.run, asked.run.norm, asked.run.features, records.columns)
        proven = asked.prove(domain, given.run.get("radius", ""))
        certificate = (
            None if request.certificate is None else checked_certificate("certificate", asked.run.certificate(domain))
        )
        measured = _write(request, asked.run, records, domain, outside, certificate, output)
    _show(request, plan, asked.run, domain, proven, measured, output)


def _asked(given: Composition, plan: Releases) -> _Asked:
    match drawing_of(given.mechanism, given.sampler):
        case ConstrainedRate():
            solved = ConstrainedReleases(mechanism=given.mechanism, sampler=given.sampler, releases=plan)
            return _Asked(run=solved, prove=lambda domain, radius: _target_proven(solved, domain))
    if plan.steps > 1:
        raise InvalidValue(
            "steps",
            str(plan.steps),
            f"1, for sampler {given.sampler.about.name}",
            "Its weights do not depend on the number of releases; certdp epsilon says what many cost",
        )
    if declared_loss(given.mechanism).pure is None:
        raise InvalidValue(
            "mechanism",
            given.mechanism.about.name,
            "a mechanism with a pure ε",
            "Choose one, such as laplace-sum or lloyd, or --sampler privacy-constrained with --delta or --order",
        )
    stated = SampledMechanism(mechanism=given.mechanism, sampler=given.sampler)
    return _Asked(run=stated, prove=lambda domain, radius: _profile_proven(stated, domain, radius))


def _target_proven(run_of: ConstrainedReleases, domain: NormBall | None) -> _Proven:
    derivation = run_of.derivation(None) if domain is None else run_of.guarantee(domain).derivation
    bound = run_of.bound(domain)
    figures = {**_NO_FIGURES, **_figures(bound)}
    if domain is None:
        figures |= {"epsilon": None, "tau": None}
    gap = run_of.drawing.proves_gap
    return _Proven(derivation=derivation, notion=bound.notion.name, figures=figures, gap=gap)


def _figures(bound: Bound) -> dict[str, Any]:
    match bound:
        case Pure(epsilon):
            return {"epsilon": [None, epsilon.upper_float]}
        case Approximate(epsilon, delta):
            return {"epsilon": [None, epsilon.upper_float], "delta": delta.upper_float}
        case Renyi(order, tau):
            return {"order": Enclosure.of(order).lower_float, "tau": [None, tau.upper_float]}
    raise InvalidType("sampler", bound, "a target in the pure, the approximate or the Rényi notion")


def _profile_proven(run_of: SampledMechanism, domain: NormBall | None, radius: str) -> _Proven:
    profile = run_of.profile_on(domain)
    if domain is None:
        return _Proven(derivation=profile.derivation, notion=PURE.name, figures={**_NO_FIGURES})
    try:
        guarantee, found = profile.supremum(domain, precision=run_of.precision)
    except NoFiniteSupremum as error:
        raise InvalidValue("radius", radius, "a domain on which ψ is bounded", str(error)) from None
    upper = found.enclosure.upper_float
    if math.isinf(upper):
        raise InvalidValue("radius", radius, "a domain whose ε binary64 holds", "Use a smaller radius or more noise")
    # a profile that is a ceiling says nothing about how near ψ comes to it
    lower = found.enclosure.lower_float if math.isinf(run_of.drawing.ceiling) else None
    figures = {**_NO_FIGURES, "epsilon": [lower, upper]}
    return _Proven(derivation=guarantee.derivation, notion=PURE.name, figures=figures)


def _write(
    request: Request,
    run_of: Run,
    records: Records,
    domain: NormBall | None,
    outside: Outside,
    certificate: bytes | None,
    output: Output,
) -> Weighting:
    """Weigh every record; the weights appear once all are there, and the certificate with them."""
    with published() as files:
        with put_weights(files, request.output) as into, _progress(records, output) as advance:
            private = weigh(run_of, records, domain, outside, into=into, progress=advance)
        if request.certificate is not None and certificate is not None:
            files.write(request.certificate, certificate, Rank.STATEMENT)
    return private.reveal()


@contextmanager
def _progress(records: Records, output: Output) -> Iterator[Callable[[int], None] | None]:
    """A progress bar where the work may be long and someone watches."""
    terminal = Console(stderr=True)
    lines, columns = records.shape
    if (lines is not None and lines * columns < _LONG) or output.as_json or not terminal.is_terminal:
        yield None
        return
    parts = (TextColumn("weighing"), BarColumn(), TextColumn("{task.completed:,} records"), TimeRemainingColumn())
    with Progress(*parts, console=terminal, transient=True) as bar:
        task = bar.add_task("weights", total=lines)
        yield lambda done: bar.update(task, completed=done)


def _show(
    request: Request,
    plan: Releases,
    run_of: Run,
    domain: NormBall | None,
    proven: _Proven,
    measured: Weighting,
    output: Output,
) -> None:
    data = {
        "mechanism": statement_of(run_of.mechanism).as_json(),
        "sampler": statement_of(run_of.sampler).as_json(),
        "resample": request.resample,
        "steps": plan.steps,
        "notion": proven.notion,
        **proven.figures,
        "theorem": str(proven.derivation),
        "domain": None if domain is None else {"norm": domain.norm.value, "radius": str(domain.radius.value)},
        "assumptions": [{"name": a.name, "value": a.value} for a in proven.derivation.assumptions],
        "output": str(request.output),
        "certificate": None if request.certificate is None else str(request.certificate),
        "private": {
            "notice": "computed from the records: for the data's owner, not for publication; so is the output",
            "n": measured.records,
            "outside_domain": measured.outside,
            "expected_sample_size": list(measured.expected_sample_size),
            "psi_max": None if math.isinf(measured.psi_max) else measured.psi_max,
            "gap": None if measured.gap is None or math.isinf(measured.gap) else measured.gap,
            "gap_proven": None if measured.gap is None else proven.gap and math.isfinite(measured.gap),
            "reach": None if measured.reach is None else _reaches(measured.reach),
        },
    }
    output.show(data, lambda console: _print(console, data, request.outside))


def _reaches(reach: Mapping[Reach, int]) -> list[dict[str, Any]]:
    return [{"name": one.name.lower().replace("_", " "), "proven": one.value, "n": n} for one, n in reach.items()]


def _print(console: Console, data: Mapping[str, Any], outside: str) -> None:
    mechanism, sampler = data["mechanism"]["name"], data["sampler"]["name"]
    times = "" if data["steps"] == 1 else f", {data['steps']:,} releases, sampled {_HOW[data['resample']]}"
    console.print(f"[bold]{mechanism}[/bold] on a sample drawn by [bold]{sampler}[/bold]{times}")
    sign, stated = _TARGETS[data["notion"]](data)
    loss = data["epsilon"] or data["tau"]
    if loss is None:
        console.print(f"  {sign}      none{stated}: no public domain was declared (--option radius=R)")
    else:
        domain = data["domain"]
        whom = f"every record with {norm(domain['norm'])} ≤ {domain['radius']}"
        console.print(f"  [bold]{sign} ≤ {loss[1]!r}{stated}[/bold] for {whom}")
    console.print(f"  {data['theorem']}", markup=False)
    if data["notion"] != PURE.name:
        console.print("  no kind of certificate states this target yet")
    console.print("  assumptions")
    for item in data["assumptions"]:
        console.print(f"    {item['name']}" + (f" = {item['value']}" if item["value"] else ""), markup=False)
    private = data["private"]
    table = Table(box=None, show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    table.add_row("records", f"{private['n']:,}")
    table.add_row("outside the domain", f"{private['outside_domain']:,} ({outside})")
    table.add_row("expected sample size", f"{private['expected_sample_size'][1]:.6g}")
    table.add_row(
        f"{'ψ' if data['notion'] == PURE.name else sign}, largest",
        "none within binary64" if private["psi_max"] is None else repr(private["psi_max"]),
    )
    for one in private["reach"] or []:
        table.add_row(one["name"], f"{one['n']:,}")
    if private["reach"] is not None:
        found = f"{'at most' if private['gap_proven'] else 'about'} {private['gap'] or 0:.2g}"
        found = "none is known" if private["gap"] is None else found
        table.add_row("gap to the largest weights", found)
    console.print("\n[bold]for the data's owner only, not for publication[/bold]")
    console.print(table)
    for one in private["reach"] or []:
        console.print(f"  {one['name']}: {one['proven']}", markup=False)
    console.print(f"weights: {data['output']}", markup=False, soft_wrap=True)
    if data["certificate"] is not None:
        console.print(f"certificate: {data['certificate']}", markup=False, soft_wrap=True)


_HOW = {"once": "once", "each": "afresh for each", None: "afresh for each"}
_TARGETS: Mapping[str, Callable[[Mapping[str, Any]], tuple[str, str]]] = {
    PURE.name: lambda data: ("ε", ""),
    APPROXIMATE.name: lambda data: ("ε", f" at δ = {data['delta']!r}"),
    RENYI.name: lambda data: ("τ", f" at order {data['order']:.6g}"),
}
"""How a loss is called in a notion, and at what it is stated."""
