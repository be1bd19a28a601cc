"""`certdp cluster`: private k-means centres of a file, with the certificate of what they cost."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen
from rich.console import Console
from rich.table import Table

from ..accounting.errors import InvalidValue
from ..accounting.expressions.floats import Floats
from ..data import Reading, read_records
from ..durable.files import Rank, published
from ..plugins.contract import AnySampler, build, options
from ..plugins.registry import Registry, Role
from .options import key_and_value
from .output import Output
from .outputs import check_places, checked_certificate

_RUN_OPTIONS = ("radius", "norm", "noise_scale", "split", "max_iter")


@frozen(kw_only=True)
class Request:
    """The command's arguments."""

    data: Path
    reading: Reading
    epsilon: str
    clusters: int
    sampler: str
    options: list[str]
    outside: str
    output: Path
    certificate: Path | None
    third_party: bool
    allow: list[str] | None


def run(request: Request, output: Output) -> None:
    """Calibrate, prove, cluster, check the certificate; then write and print."""
    estimators = _estimators()
    kind = Registry(third_party=request.third_party, allow=request.allow).get(Role.SAMPLER, request.sampler)
    of_run, of_sampler = _sorted(request.options, kind)
    if "target" in {option.name for option in options(kind)}:  # a sampler with a target of its own gets the run's
        of_sampler.setdefault("target", request.epsilon)
    sampler: AnySampler = build(kind, "sampler", of_sampler)
    check_places(request.data, {"output": request.output, "certificate": request.certificate})
    settings: dict[str, Any] = {**of_run, "max_iter": _whole("max_iter", of_run.get("max_iter", "10"))}
    model = estimators.DPKMeans(
        n_clusters=request.clusters,
        epsilon=request.epsilon,
        sampler=sampler,
        outside=request.outside,
        **settings,
    )
    model.fit(read_records(request.data, request.reading))
    with published() as files:
        if request.certificate is not None:
            certificate = checked_certificate("certificate", model.certificate_)
            files.write(request.certificate, certificate, Rank.STATEMENT)
        files.write(request.output, _table_of(model.cluster_centers_), Rank.RELEASE)
    fit = model.private_.reveal()
    domain = model.domain_
    data = {
        "clusters": request.clusters,
        "sampler": request.sampler,
        "epsilon": [None, model.epsilon_spent_],
        "guarantee": {
            "notion": "pure",
            "unit": "record",
            "relation": "add-remove",
            "domain": {"norm": domain.norm.value, "radius": str(domain.radius.value), "dimension": domain.dimension},
        },
        "noise_scale": float(model.mechanism_.scale_sum.value),
        "iterations": model.n_iter_,
        "output": str(request.output),
        "certificate": None if request.certificate is None else str(request.certificate),
        "private": {
            "notice": "computed from the records: for the data's owner, not for publication",
            "n": fit.records,
            "outside_domain": fit.outside,
            "sample_size": fit.sample_size,
            "cost": fit.inertia,
        },
    }
    output.show(data, lambda console: _print(console, data))


def _estimators() -> Any:
    try:
        from .. import clustering
    except ImportError:
        raise InvalidValue(
            "cluster", "an installation without scikit-learn", "one that has it", "pip install 'certdp[sklearn]'"
        ) from None
    return clustering


def _sorted(given: list[str], kind: type) -> tuple[dict[str, str], dict[str, str]]:
    """Each KEY=VALUE with the run, or with the sampler where that alone declares KEY or is named."""
    of_run: dict[str, str] = {}
    of_sampler: dict[str, str] = {}
    names = [option.name for option in options(kind)]
    for text in given:
        key, value = key_and_value(text, "radius=1")
        prefix, dot, rest = key.partition(".")
        if dot and prefix == "sampler" and rest in names:
            key, owner = rest, of_sampler
        elif key in _RUN_OPTIONS:
            owner = of_run
        elif key in names:
            owner = of_sampler
        else:
            known = f"run: {', '.join(_RUN_OPTIONS)}; sampler: {', '.join(names) or 'none'}"
            raise InvalidValue("option", text, f"a declared option ({known})", "Use one of these names")
        if key in owner:
            raise InvalidValue("option", text, f"one value for {key}", "Give it once")
        owner[key] = value
    return of_run, of_sampler


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidValue(name, text, "a whole number ≥ 1") from None


def _table_of(centres: Floats) -> bytes:
    """The centres as CSV, one row each, every number as written in full."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(f"column_{number}" for number in range(centres.shape[1]))
    writer.writerows([repr(float(value)) for value in centre] for centre in centres)
    return text.getvalue().encode("ascii")


def _print(console: Console, data: Mapping[str, Any]) -> None:
    guarantee, private = data["guarantee"], data["private"]
    domain = guarantee["domain"]
    console.print(f"{data['clusters']} centres after {data['iterations']} iterations on a sample by {data['sampler']}")
    console.print(
        f"  [bold]ε ≤ {data['epsilon'][1]!r}[/bold] for every record with ‖x‖ ≤ {domain['radius']} in ℓ{domain['norm']}"
    )
    console.print(f"  scale of the noise of sums {data['noise_scale']:.6g}", markup=False)
    console.print(f"  centres: {data['output']}", markup=False)
    if data["certificate"] is not None:
        console.print(f"  certificate: {data['certificate']}", markup=False)
    table = Table(box=None, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, key in (("records", "n"), ("outside the domain", "outside_domain"), ("sample", "sample_size")):
        table.add_row(name, f"{private[key]:,}")
    table.add_row("k-means cost", f"{private['cost']:.6g}")
    console.print("\n[bold]for the data's owner only, not for publication[/bold]")
    console.print(table)
