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

from ..accounting.clipping import Outside
from ..accounting.domains import NormBall
from ..accounting.errors import InvalidValue
from ..accounting.expressions import norm
from ..accounting.guarantees import Guarantee
from ..accounting.suprema import NoFiniteSupremum
from ..data import Reading, Records, open_records
from ..files import write_whole
from ..plugins.contract import options
from ..plugins.registry import Registry, Role
from ..sampled import SampledMechanism, declared_loss, statement_of
from ..weighting import Weighting, require_weights_path, weigh, weights_file
from .composition import composed
from .output import Output
from .outputs import check_places, checked_certificate
from .psi_request import domain_of, outside_of

_LONG = 2_000_000  # entries from which a progress bar is worth it


@frozen(kw_only=True)
class Request:
    """The command's arguments."""

    mechanism: str
    sampler: str
    target: str | None
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
            InvalidValue: for a target that the sampler does not have.
        """
        if self.target is None:
            return self.options
        registry = Registry(third_party=self.third_party, allow=self.allow)
        if "target" not in {option.name for option in options(registry.get(Role.SAMPLER, self.sampler))}:
            raise InvalidValue(
                "target-epsilon",
                self.target,
                f"nothing, for sampler {self.sampler}: it has no target",
                "Leave it out, or use --sampler privacy-constrained",
            )
        return [*self.options, f"sampler.target={self.target}"]


@frozen(kw_only=True)
class _Proven:
    """What holds for every record of the domain.

    Attributes:
        guarantee: the statement; None without a domain.
        epsilon: lower and upper end of the supremum of ψ; the lower one is None where only a bound is proven.
    """

    guarantee: Guarantee[Any, Any, Any] | None
    epsilon: tuple[float | None, float] | None


def run(request: Request, output: Output) -> None:
    """Compose, prove and certify; then read, weigh and write."""
    given = composed(
        request.mechanism, request.sampler, request.all_options, third_party=request.third_party, allow=request.allow
    )
    if declared_loss(given.mechanism).pure is None:
        raise InvalidValue(
            "mechanism", request.mechanism, "a mechanism with a pure ε", "Choose one, such as laplace-sum or lloyd"
        )
    outside = outside_of(request.outside, "radius" in given.run)
    require_weights_path(request.output)
    check_places(request.data, {"output": request.output, "certificate": request.certificate})
    run_of = SampledMechanism(mechanism=given.mechanism, sampler=given.sampler)
    with open_records(request.data, request.reading) as records:
        domain = domain_of(given.run, run_of.norm, [run_of.profile.remove], records.columns)
        proven = _proven(run_of, domain, given.run.get("radius", ""))
        certificate = (
            None if request.certificate is None else checked_certificate("certificate", run_of.certificate(domain))
        )
        measured = _write(request, run_of, records, domain, outside, certificate, output)
    _show(request, run_of, domain, proven, measured, output)


def _proven(run_of: SampledMechanism, domain: NormBall | None, radius: str) -> _Proven:
    if domain is None:
        return _Proven(guarantee=None, epsilon=None)
    try:
        guarantee, found = run_of.profile_on(domain).supremum(domain, precision=run_of.precision)
    except NoFiniteSupremum as error:
        raise InvalidValue("radius", radius, "a domain on which ψ is bounded", str(error)) from None
    upper = found.enclosure.upper_float
    if math.isinf(upper):
        raise InvalidValue("radius", radius, "a domain whose ε binary64 holds", "Use a smaller radius or more noise")
    # a profile that is a ceiling says nothing about how near ψ comes to it
    lower = found.enclosure.lower_float if math.isinf(run_of.drawing.ceiling) else None
    return _Proven(guarantee=guarantee, epsilon=(lower, upper))


def _write(
    request: Request,
    run_of: SampledMechanism,
    records: Records,
    domain: NormBall | None,
    outside: Outside,
    certificate: bytes | None,
    output: Output,
) -> Weighting:
    """Weigh every record; the weights appear once all are there and the certificate is written."""
    with weights_file(request.output) as into:
        with _progress(records, output) as advance:
            private = weigh(run_of, records, domain, outside, into=into, progress=advance)
        if request.certificate is not None and certificate is not None:
            write_whole(request.certificate, certificate)
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
    run_of: SampledMechanism,
    domain: NormBall | None,
    proven: _Proven,
    measured: Weighting,
    output: Output,
) -> None:
    profile = run_of.profile_on(domain)
    assumptions = profile.assumptions if proven.guarantee is None else proven.guarantee.assumptions
    data = {
        "mechanism": statement_of(run_of.mechanism).as_json(),
        "sampler": statement_of(run_of.sampler).as_json(),
        "epsilon": None if proven.epsilon is None else list(proven.epsilon),
        "theorem": str(profile.derivation if proven.guarantee is None else proven.guarantee.derivation),
        "domain": None if domain is None else {"norm": domain.norm.value, "radius": str(domain.radius.value)},
        "assumptions": [{"name": a.name, "value": a.value} for a in assumptions],
        "output": str(request.output),
        "certificate": None if request.certificate is None else str(request.certificate),
        "private": {
            "notice": "computed from the records: for the data's owner, not for publication; so is the output",
            "n": measured.records,
            "outside_domain": measured.outside,
            "expected_sample_size": list(measured.expected_sample_size),
            "psi_max": None if math.isinf(measured.psi_max) else measured.psi_max,
            "gap": measured.gap,
        },
    }
    output.show(data, lambda console: _print(console, data, request.outside))


def _print(console: Console, data: Mapping[str, Any], outside: str) -> None:
    mechanism, sampler = data["mechanism"]["name"], data["sampler"]["name"]
    console.print(f"[bold]{mechanism}[/bold] on a sample drawn by [bold]{sampler}[/bold]")
    if data["epsilon"] is None:
        console.print("  ε      none: no public domain was declared (--option radius=R)")
    else:
        domain = data["domain"]
        upper = data["epsilon"][1]
        console.print(f"  [bold]ε ≤ {upper!r}[/bold] for every record with {norm(domain['norm'])} ≤ {domain['radius']}")
    console.print(f"  {data['theorem']}", markup=False)
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
    table.add_row("ψ, largest", "none within binary64" if private["psi_max"] is None else repr(private["psi_max"]))
    if private["gap"] is not None:
        table.add_row("gap to the largest weights", f"at most {private['gap']:.2g}")
    console.print("\n[bold]for the data's owner only, not for publication[/bold]")
    console.print(table)
    console.print(f"weights: {data['output']}", markup=False, soft_wrap=True)
    if data["certificate"] is not None:
        console.print(f"certificate: {data['certificate']}", markup=False, soft_wrap=True)
