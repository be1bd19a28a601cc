"""`certdp psi`: a certified ψ-profile, its supremum over the public domain, and certificates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
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
from ..accounting.expressions import ZERO, Expression, Symbol, norm, prune, substitute, variables
from ..accounting.expressions.floats import Floats
from ..accounting.provenance import Private, Public
from ..accounting.suprema import NoFiniteSupremum
from ..data import Reading, example_records, read_records, refuse_without_file
from ..files import write_whole
from ..plugins.contract import Mechanism
from ..sampled import Measurement, SampledMechanism, declared_loss
from ..verification.certificates import SampledPureClaim, public_certificate
from ..verification.checker import check
from .composition import composed
from .output import Output

_EXAMPLE = "embedded example of IS Section 3.3, for want of --data"
_LONG = 2_000_000  # entries from which a progress bar is worth it


@frozen(kw_only=True)
class Request:
    """The command's arguments."""

    mechanism: str
    sampler: str
    options: list[str]
    data: Path | None
    reading: Reading
    outside: str
    certificate: Path | None
    owner_certificate: Path | None
    plot: Path | None
    delta: str | None
    order: str | None
    third_party: bool
    allow: list[str] | None


def run(request: Request, output: Output) -> None:
    """Compose, prove, measure; then write and print."""
    given = composed(
        request.mechanism, request.sampler, request.options, third_party=request.third_party, allow=request.allow
    )
    _require_pure(given.mechanism, request)
    outside = _outside(request.outside, "radius" in given.run)
    _check_targets(request)
    if request.data is None:
        refuse_without_file(request.reading)
    run_of = SampledMechanism(mechanism=given.mechanism, sampler=given.sampler)
    records = example_records() if request.data is None else read_records(request.data, request.reading)
    domain = _domain(given.run, run_of, records.shape[1])
    claim = _claim(run_of, domain, given.run.get("radius", ""))
    with _progress(records, output) as advance:
        private = run_of.measure(records, domain, outside, progress=advance)
    _write(request, run_of, claim, records, domain, outside, private)
    _show(request, claim, private.reveal(), output)


def _domain(stated: Mapping[str, str], run_of: SampledMechanism, columns: int) -> NormBall | None:
    """The public domain. The number of columns counts only where another norm than the domain's matters."""
    if stated.get("dimension", str(columns)) != str(columns):
        raise InvalidValue("dimension", stated["dimension"], f"{columns}, the number of columns of the data")
    if "radius" not in stated:
        return None
    norms = {v.index for v in variables(run_of.profile.remove) if v.symbol is Symbol.NORM}
    several = bool(norms - {run_of.norm.value})
    return NormBall(
        norm=run_of.norm,
        radius=Public(stated["radius"]),
        dimension=columns if several or "dimension" in stated else None,
    )


def _claim(run_of: SampledMechanism, domain: NormBall | None, radius: str) -> SampledPureClaim:
    try:
        claim = run_of.claim(domain)
    except NoFiniteSupremum as error:
        raise InvalidValue("radius", radius, "a domain on which ψ is bounded", str(error)) from None
    if claim.supremum is not None and math.isinf(claim.supremum.enclosure.upper_float):
        raise InvalidValue("radius", radius, "a domain whose ε binary64 holds", "Use a smaller radius or more noise")
    return claim


def _require_pure(mechanism: Mechanism, request: Request) -> None:
    pure = declared_loss(mechanism).pure is not None
    stated = {"delta": request.delta, "order": request.order}
    if not pure and not any(stated.values()):
        raise InvalidValue(
            "mechanism",
            request.mechanism,
            "a mechanism with a pure ε, or a δ or an order",
            f"{request.mechanism} has no pure ε: state --delta D or --order A",
        )
    for name, value in stated.items():
        if value is not None:
            reason = (
                "This mechanism has a pure ε: leave the option out"
                if pure
                else "This version composes pure losses only: the notion asked for is not there yet"
            )
            raise InvalidValue(name, value, "nothing, for pure profiles", reason)


def _outside(word: str, bounded: bool) -> Outside:
    try:
        outside = Outside(word)
    except ValueError:
        raise InvalidValue("outside", word, "clip or drop", "Leave it out to clip") from None
    if outside is not Outside.CLIP and not bounded:
        raise InvalidValue("outside", word, "a choice for a run with a public domain", "Declare one: --option radius=R")
    return outside


def _check_targets(request: Request) -> None:
    """Refuse unwritable places before any work is done."""
    taken = {} if request.data is None else {request.data.resolve(): "data"}
    for name, path in (
        ("certificate", request.certificate),
        ("owner-certificate", request.owner_certificate),
        ("plot", request.plot),
    ):
        if path is None:
            continue
        if not path.parent.is_dir() or (path.exists() and not path.is_file()):
            raise InvalidValue(name, str(path), "a file in an existing folder", "Create the folder or choose another")
        other = taken.setdefault(path.resolve(), name)
        if other != name:
            raise InvalidValue(name, str(path), f"another file than that of --{other}", "Choose another name")


@contextmanager
def _progress(records: Floats, output: Output) -> Iterator[Any]:
    terminal = Console(stderr=True)
    if records.size < _LONG or output.as_json or not terminal.is_terminal:
        yield None
        return
    columns = (TextColumn("certifying ψ"), BarColumn(), TextColumn("{task.completed:,} records"), TimeRemainingColumn())
    with Progress(*columns, console=terminal, transient=True) as bar:
        task = bar.add_task("psi", total=len(records))
        yield lambda done: bar.update(task, completed=done)


def _write(
    request: Request,
    run_of: SampledMechanism,
    claim: SampledPureClaim,
    records: Floats,
    domain: NormBall | None,
    outside: Outside,
    private: Private[Measurement],
) -> None:
    contents: list[tuple[Path, bytes, bool]] = []  # all of them, before the first is written
    if request.certificate is not None:
        contents.append((request.certificate, _checked("certificate", public_certificate(claim)), False))
    if request.owner_certificate is not None:
        owned = run_of.owners_certificate(records, domain, outside, claim=claim, measured=private)
        contents.append((request.owner_certificate, _checked("owner-certificate", owned), True))
    if request.plot is not None:
        from ..plots import plot_profile

        contents.append((request.plot, plot_profile(claim, private.reveal()), True))
    for path, content, secret in contents:
        write_whole(path, content, secret=secret)


def _checked(name: str, content: bytes) -> bytes:
    """A certificate that the independent checker accepts."""
    verdict = check(content)
    if not verdict.accepted:
        raise InvalidValue(
            name,
            "a profile that the checker refuses",
            "one that it proves again",
            f"It says: {verdict.reason}. Choose simpler constants",
        )
    return content


def _ideal(profile: Expression) -> Expression:
    """The profile as people read it: without rounding, and simplified."""
    exact = substitute(profile, {v: ZERO for v in variables(profile) if v.symbol is Symbol.ROUNDING})
    return prune(exact.simplified(), {}).simplified()


def _show(request: Request, claim: SampledPureClaim, measured: Measurement, output: Output) -> None:
    stated = claim.as_json()
    supremum = stated["claim"]["supremum"]
    epsilon = None if supremum is None else [supremum["lower"], supremum["upper"]]
    # both bound every record held within the domain
    most = math.inf if epsilon is None else epsilon[1]
    private = {
        "notice": "computed from the records: for the data's owner, not for publication",
        "source": _EXAMPLE if request.data is None else "the file given",
        "n": measured.records,
        "outside_domain": measured.outside,
        "expected_sample_size": list(measured.expected_sample_size),
        "psi_max": _finite(min(measured.psi_max, most)),
        "quantiles": {str(level): _finite(min(value, most)) for level, value in measured.quantiles.items()},
    }
    data = {
        "mechanism": stated["mechanism"],
        "sampler": stated["sampler"],
        "epsilon": epsilon,
        "guarantee": {
            "kind": "psi-PDP profile" if epsilon is None else "differential privacy on the public domain",
            "notion": stated["claim"]["notion"],
            "unit": stated["claim"]["unit"],
            "relation": stated["claim"]["relation"],
            "theorem": stated["theorem"],
            "psi": str(_ideal(claim.profile.remove)),
            "domain": None if supremum is None else supremum["domain"],
            "maximiser": None if supremum is None else supremum["maximiser"],
        },
        "assumptions": stated["assumptions"],
        "certificate": None if request.certificate is None else str(request.certificate),
        "owner_certificate": None if request.owner_certificate is None else str(request.owner_certificate),
        "plot": None if request.plot is None else str(request.plot),
        "private": private,
    }
    output.show(data, lambda console: _print(console, data, request))


def _finite(value: float) -> float | None:
    """None for a bound beyond binary64, which JSON cannot say."""
    return None if math.isinf(value) else value


def _print(console: Console, data: dict[str, Any], request: Request) -> None:
    guarantee, private = data["guarantee"], data["private"]
    mechanism, sampler = data["mechanism"]["name"], data["sampler"]["name"]
    console.print(f"[bold]{mechanism}[/bold] on a sample drawn by [bold]{sampler}[/bold]")
    if data["epsilon"] is None:
        console.print("  ε      none: no public domain was declared (--option radius=R)")
    else:
        domain = guarantee["domain"]
        lower, upper = data["epsilon"]
        console.print(f"  [bold]ε ≤ {upper!r}[/bold] for every record with {norm(domain['norm'])} ≤ {domain['radius']}")
        console.print(f"         (the supremum of ψ lies in [{lower!r}, {upper!r}])")
    console.print(
        f"  pure DP, unit {guarantee['unit']}, relation {guarantee['relation']}, by {guarantee['theorem']}",
        highlight=False,
    )
    console.print(f"  ψ(x) = {guarantee['psi']}, and a relative rounding of q and W", markup=False)
    console.print("  assumptions")
    for item in data["assumptions"]:
        console.print(f"    {item['name']} = {item['value']}", markup=False)
    table = Table(box=None, show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    table.add_row("source", private["source"])
    table.add_row("records", f"{private['n']:,}")
    table.add_row("outside the domain", f"{private['outside_domain']:,} ({request.outside})")
    table.add_row("expected sample size", f"{private['expected_sample_size'][1]:.6g}")
    for level, value in private["quantiles"].items():
        table.add_row(f"ψ, quantile {level}", "none within binary64" if value is None else repr(value))
    table.add_row("ψ, largest", "none within binary64" if private["psi_max"] is None else repr(private["psi_max"]))
    console.print("\n[bold]for the data's owner only, not for publication[/bold]")
    console.print(table)
    for name in ("certificate", "owner_certificate", "plot"):
        if data[name] is not None:
            private_part = " (its right half is private)" if name == "plot" else ""
            console.print(f"{name.replace('_', ' ')}: {data[name]}{private_part}", markup=False, soft_wrap=True)
