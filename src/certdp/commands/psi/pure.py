"""`certdp psi`: a certified ψ-profile, its supremum over the public domain, and certificates."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Console

from ...accounting.errors import InvalidValue
from ...accounting.expressions import ZERO, Expression, Symbol, norm, prune, simplify, substitute, variables
from ...accounting.expressions.floats import Floats
from ...accounting.expressions.suprema import NoFiniteSupremum
from ...accounting.provenance import Private
from ...accounting.sampling.clipping import Outside
from ...accounting.sampling.domains import NormBall
from ...data import refuse_without_file
from ...durable.files import Rank, published
from ...records.losses import Measurement
from ...runs.sampled import SampledMechanism, declared_loss
from ...verification.certificates.writing import SampledPureClaim, public_certificate
from ..composition import Composition, KeyedComposition, chosen
from ..output import Output
from ..outputs import check_places, checked_certificate
from .keyed import run_keyed
from .request import Request, domain_of, outside_of, print_private, private_figures, progress_over
from .target import run_at

__all__ = ["Request", "run"]


def run(request: Request, output: Output) -> None:
    """Compose, prove, measure; then write and print: in the pure notion, or at the δ or the order asked for.

    About sampled keys: compare the rows of neighbouring frequencies.
    """
    given = chosen(
        request.mechanism, request.sampler, request.options, third_party=request.third_party, allow=request.allow
    )
    match given:
        case Composition():
            _run_of_records(request, given, output)
        case KeyedComposition():
            run_keyed(request, given, output)


def _run_of_records(request: Request, given: Composition, output: Output) -> None:
    for name, value in (("epsilon", request.epsilon), ("max-frequency", request.max_frequency)):
        if value is not None:
            raise InvalidValue(name, value, "nothing, for a mechanism on records", "Ask for ε at a δ: --delta D")
    if request.delta is not None or request.order is not None:
        run_at(request, given, output)
    else:
        _run_pure(request, given, output)


def _run_pure(request: Request, given: Composition, output: Output) -> None:
    if declared_loss(given.mechanism).pure is None:
        raise InvalidValue(
            "mechanism",
            request.mechanism,
            "a mechanism with a pure ε, or a δ or an order",
            f"{request.mechanism} has no pure ε: state --delta D or --order A",
        )
    outside = outside_of(request.outside, "radius" in given.run)
    check_places(request.data, request.places)
    if request.data is None:
        refuse_without_file(request.reading)
    run_of = SampledMechanism(mechanism=given.mechanism, sampler=given.sampler)
    records = request.records
    domain = domain_of(given.run, run_of.norm, run_of.features, records.shape[1])
    claim = _claim(run_of, domain, given.run.get("radius", ""))
    with progress_over(records, output) as advance:
        private = run_of.measure(records, domain, outside, progress=advance)
    _write(request, run_of, claim, records, domain, outside, private)
    _show(request, claim, private.reveal(), output)


def _claim(run_of: SampledMechanism, domain: NormBall | None, radius: str) -> SampledPureClaim:
    try:
        claim = run_of.claim(domain)
    except NoFiniteSupremum as error:
        raise InvalidValue("radius", radius, "a domain on which ψ is bounded", str(error)) from None
    if claim.supremum is not None and math.isinf(claim.supremum.enclosure.upper_float):
        raise InvalidValue("radius", radius, "a domain whose ε binary64 holds", "Use a smaller radius or more noise")
    return claim


def _write(
    request: Request,
    run_of: SampledMechanism,
    claim: SampledPureClaim,
    records: Floats,
    domain: NormBall | None,
    outside: Outside,
    private: Private[Measurement],
) -> None:
    with published() as files:
        if request.certificate is not None:
            certificate = checked_certificate("certificate", public_certificate(claim))
            files.write(request.certificate, certificate, Rank.STATEMENT)
        if request.owner_certificate is not None:
            owned = run_of.owners_certificate(records, domain, outside, claim=claim, measured=private)
            files.write(
                request.owner_certificate, checked_certificate("owner-certificate", owned), Rank.RECORD, secret=True
            )
        if request.plot is not None:
            from ...plots.runs import plot_profile

            files.write(request.plot, plot_profile(claim), Rank.STATEMENT)
        if request.owner_plot is not None:
            from ...plots.runs import plot_measured

            files.write(request.owner_plot, plot_measured(claim, private).reveal(), Rank.RECORD, secret=True)


def _ideal(profile: Expression) -> Expression:
    """The profile as people read it: without rounding, and simplified."""
    exact = substitute(profile, {v: ZERO for v in variables(profile) if v.symbol is Symbol.ROUNDING})
    return simplify(prune(simplify(exact), {}))


def _show(request: Request, claim: SampledPureClaim, measured: Measurement, output: Output) -> None:
    stated = claim.as_json()
    supremum = stated["claim"]["supremum"]
    epsilon = None if supremum is None else [supremum["lower"], supremum["upper"]]
    # both bound every record held within the domain
    private = private_figures(request, measured, math.inf if epsilon is None else epsilon[1])
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
        "owner_plot": None if request.owner_plot is None else str(request.owner_plot),
        "private": private,
    }
    reading = (
        f"ψ(x) ≤ {data['guarantee']['psi']} for every record that may be drawn"
        if claim.rate.only_bound
        else f"ψ(x) = {data['guarantee']['psi']}, and a relative rounding of q and W"
    )
    output.show(data, lambda console: _print(console, data, request, reading))


def _print(console: Console, data: dict[str, Any], request: Request, reading: str) -> None:
    guarantee = data["guarantee"]
    mechanism, sampler = data["mechanism"]["name"], data["sampler"]["name"]
    console.print(f"[bold]{mechanism}[/bold] on a sample drawn by [bold]{sampler}[/bold]")
    if data["epsilon"] is None:
        console.print("  ε      none: no public domain was declared (--option radius=R)")
    else:
        domain = guarantee["domain"]
        lower, upper = data["epsilon"]
        console.print(f"  [bold]ε ≤ {upper!r}[/bold] for every record with {norm(domain['norm'])} ≤ {domain['radius']}")
        if lower is not None:
            console.print(f"         (the supremum of ψ lies in [{lower!r}, {upper!r}])")
    console.print(
        f"  pure DP, unit {guarantee['unit']}, relation {guarantee['relation']}, by {guarantee['theorem']}",
        highlight=False,
    )
    console.print(f"  {reading}", markup=False)
    console.print("  assumptions")
    for item in data["assumptions"]:
        console.print(f"    {item['name']} = {item['value']}", markup=False)
    print_private(console, data["private"], request.outside, "ψ")
    for name in ("certificate", "owner_certificate", "plot", "owner_plot"):
        if data[name] is not None:
            private = " (private)" if name == "owner_plot" else ""
            console.print(f"{name.replace('_', ' ')}: {data[name]}{private}", markup=False, soft_wrap=True)
