"""`certdp psi --delta D` and `--order A`: ε at a δ, or τ at a Rényi order, over the public domain and per record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen
from rich.console import Console

from ...accounting.accountants import Bounds, renyi_at
from ...accounting.enclosures import Enclosure
from ...accounting.errors import InvalidValue
from ...accounting.expressions import norm
from ...accounting.guarantees import Guarantee
from ...accounting.provenance import Private
from ...accounting.sampling.domains import NormBall
from ...accounting.units import Delta, Order
from ...data import refuse_without_file
from ...records.losses import Measurement
from ...records.record_losses import epsilon_per_record, renyi_per_record
from ...runs.sampled import declared_loss, declared_rate, statement_of
from ...runs.sampled_releases import Interval, SampledReleases
from ..composition import Composition
from ..output import Output
from ..outputs import check_places
from .request import Request, domain_of, outside_of, print_private, private_figures, progress_over


@frozen(kw_only=True)
class _Found:
    """What is proven for the domain.

    Attributes:
        guarantee: the statement.
        figures: its numbers as JSON has them: the target and the bounds, by name.
        bounds: of the loss.
    """

    guarantee: Guarantee[Any, Any, Any]
    figures: Mapping[str, Any]
    bounds: Interval


@frozen(kw_only=True)
class _Target:
    """What is asked for.

    Attributes:
        sign: what the loss is called.
        stated: the target in words.
        prove: the guarantee of a run.
        measure: the loss per record of a run, as `record_losses` computes it.
    """

    sign: str
    stated: str
    prove: Callable[[SampledReleases], _Found]
    measure: Callable[..., Private[Measurement]]


def run_at(request: Request, given: Composition, output: Output) -> None:
    """Compose, prove, measure and print at the target that was asked for."""
    target = _target(request)
    _refuse_files(request)
    outside = outside_of(request.outside, "radius" in given.run)
    check_places(request.data, request.places)
    if request.data is None:
        refuse_without_file(request.reading)
    records = request.records
    sampler = given.stating_sampler
    roots = [*declared_loss(given.mechanism).features, declared_rate(sampler).probability]
    domain = domain_of(given.run, SampledReleases.norm_of(given.mechanism, sampler), roots, records.shape[1])
    releases = SampledReleases(mechanism=given.mechanism, sampler=sampler, domain=domain)
    found = target.prove(releases)
    with progress_over(records, output) as advance:
        private = target.measure(releases, records, outside, progress=advance)
    data = _as_json(request, releases, found, private.reveal())
    output.show(data, lambda console: _print(console, data, request, target))


def _target(request: Request) -> _Target:
    match request.delta, request.order:
        case str(delta), None:
            return _at_delta(Delta(delta))
        case None, str(order):
            return _at_order(Order(order))
    raise InvalidValue("order", request.order, "nothing, beside a δ", "State --delta or --order, not both")


def _at_delta(delta: Delta) -> _Target:
    def prove(releases: SampledReleases) -> _Found:
        answer = releases.epsilon(delta)
        return _Found(
            guarantee=answer.guarantee,
            figures={"delta": answer.delta.upper, "epsilon": [answer.epsilon.lower, answer.epsilon.upper]},
            bounds=answer.epsilon,
        )

    def measure(releases: SampledReleases, *arguments: Any, **options: Any) -> Private[Measurement]:
        return epsilon_per_record(releases, delta, *arguments, **options)

    return _Target(sign="ε", stated=f"δ = {delta}", prove=prove, measure=measure)


def _at_order(order: Order) -> _Target:
    def prove(releases: SampledReleases) -> _Found:
        guarantee = releases.renyi(order)
        reached = releases.pairs.worst(renyi_at(order.value))
        # what released parameters cost is an upper bound alone
        two_sided = reached is not None and reached.two_sided and not releases._cost.upper
        bounds = Interval.of(Bounds(guarantee.bound.tau, two_sided))
        return _Found(
            guarantee=guarantee,
            figures={
                "order": Enclosure.of(order.value).lower_float,
                "tau": [bounds.lower, bounds.upper],
                "epsilon": None,
            },
            bounds=bounds,
        )

    def measure(releases: SampledReleases, *arguments: Any, **options: Any) -> Private[Measurement]:
        return renyi_per_record(releases, order, *arguments, **options)

    return _Target(sign="τ", stated=f"order {order}", prove=prove, measure=measure)


def _refuse_files(request: Request) -> None:
    for name, path in request.places.items():
        if path is None:
            continue
        remedy = "Only pure profiles have certificates and plots so far: leave the option out, or --delta and --order"
        if name == "certificate" and request.delta is not None:
            same = "with the same --mechanism, --sampler and --option"
            remedy = f"Write it by certdp epsilon --delta {request.delta} --certificate {path}, {same}"
        raise InvalidValue(name, str(path), "nothing, at a δ or an order", remedy)


def _as_json(request: Request, releases: SampledReleases, found: _Found, measured: Measurement) -> dict[str, Any]:
    guarantee, domain = found.guarantee, releases.domain
    return {
        "mechanism": statement_of(releases.mechanism).as_json(),
        "sampler": statement_of(releases.sampler).as_json(),
        "notion": guarantee.bound.notion.name,
        **found.figures,
        "guarantee": {
            "kind": "differential privacy" + ("" if domain is None else " on the public domain"),
            "notion": guarantee.bound.notion.name,
            "unit": guarantee.unit.name,
            "relation": guarantee.relation.name,
            "theorem": str(guarantee.derivation),
            "psi": None,
            "domain": None if domain is None else _domain(domain),
            "maximiser": None,
        },
        "assumptions": [{"name": a.name, "value": a.value} for a in guarantee.assumptions],
        "certificate": None,
        "owner_certificate": None,
        "plot": None,
        "owner_plot": None,
        "private": private_figures(request, measured, found.bounds.upper),
    }


def _domain(domain: NormBall) -> dict[str, Any]:
    return {"norm": domain.norm.value, "radius": str(domain.radius.value), "dimension": domain.dimension}


def _print(console: Console, data: dict[str, Any], request: Request, target: _Target) -> None:
    guarantee, domain = data["guarantee"], data["guarantee"]["domain"]
    lower, upper = data["epsilon"] or data["tau"]
    mechanism, sampler = data["mechanism"]["name"], data["sampler"]["name"]
    whom = "every record" if domain is None else f"every record with {norm(domain['norm'])} ≤ {domain['radius']}"
    console.print(f"[bold]{mechanism}[/bold] on a sample drawn by [bold]{sampler}[/bold]")
    console.print(f"  [bold]{target.sign} ≤ {upper!r}[/bold] at {target.stated} for {whom}")
    if lower is None:
        console.print(f"  {target.sign}: an upper bound; no lower bound is proven", markup=False)
    else:
        console.print(f"         (the supremum of {target.sign} lies in [{lower!r}, {upper!r}])", markup=False)
    console.print(
        f"  {guarantee['notion']} DP, unit {guarantee['unit']}, relation {guarantee['relation']}", highlight=False
    )
    console.print(f"  {guarantee['theorem']}", markup=False)
    console.print("  assumptions")
    for item in data["assumptions"]:
        console.print(f"    {item['name']}" + (f" = {item['value']}" if item["value"] else ""), markup=False)
    print_private(console, data["private"], request.outside, target.sign)
