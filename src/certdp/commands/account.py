"""`certdp epsilon` and `certdp delta`: what T releases on samples of the data cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from attrs import frozen
from rich.console import Console

from ..accounting.accountants import ALL, BEST, Accountant
from ..accounting.errors import InvalidValue
from ..accounting.expressions import norm
from ..accounting.provenance import Public
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.releases import Releases
from ..accounting.units import Delta, Epsilon
from ..durable.files import Rank, published
from ..runs.keyed import KeyedRelease
from ..runs.plan import Plan
from ..runs.run import Accounted, Answer
from ..runs.sampled_releases import SampledReleases
from .composition import Composition, KeyedComposition, chosen, composed
from .output import Output
from .outputs import check_places
from .plan import plan_of
from .plan_files import plan_from_file
from .run_certificates import print_certified, write_certificate


@frozen(kw_only=True)
class Request:
    """The commands' arguments."""

    plan: Path | None
    mechanism: str | None
    sampler: str | None
    options: list[str]
    resample: str | None
    steps: int
    accountant: str
    plot: Path | None
    third_party: bool
    allow: list[str] | None
    certificate: Path | None = None


_Question: TypeAlias = Callable[[Accounted[Any], Accountant], Answer[Any]]
_ACCOUNTANTS: dict[str, Accountant] = {accountant.name: accountant for accountant in (BEST, *ALL)}


def run_epsilon(request: Request, delta: str, output: Output) -> None:
    """The smallest proven ε at δ."""
    wanted = Delta(delta)
    _answer(request, lambda releases, accountant: releases.epsilon(wanted, accountant=accountant), "epsilon", output)


def run_delta(request: Request, epsilon: str, output: Output) -> None:
    """The smallest proven δ at ε."""
    wanted = Epsilon(epsilon)
    _answer(request, lambda releases, accountant: releases.delta(wanted, accountant=accountant), "delta", output)


def _answer(request: Request, question: _Question, asked: str, output: Output) -> None:
    accountant = accountant_of(request)
    check_places(None, {"plot": request.plot, "certificate": request.certificate})
    releases = _one_run(request) if request.plan is None else _from_file(request, request.plan)
    answer = question(releases, accountant)
    with published() as files:
        if request.plot is not None:
            from ..plots.runs import plot_accounting

            files.write(request.plot, plot_accounting(releases, answer), Rank.STATEMENT)
        certified = write_certificate(files, request.certificate, releases, answer)
    data = {**_as_json(request, releases, answer), "certified": certified}
    output.show(data, lambda console: _print(console, data, asked))


def accountant_of(request: Request) -> Accountant:
    """The accountant that a request names.

    Raises:
        InvalidValue: for an unknown name.
    """
    if request.accountant not in _ACCOUNTANTS:
        raise InvalidValue("accountant", request.accountant, ", ".join(_ACCOUNTANTS), "Choose one of them")
    return _ACCOUNTANTS[request.accountant]


_Run: TypeAlias = SampledReleases[Any] | KeyedRelease | Plan[Any]


def _from_file(request: Request, plan: Path) -> Plan[Any]:
    """The runs that a file states; nothing beside it says what is released."""
    others = {"mechanism": request.mechanism, "sampler": request.sampler, "resample": request.resample}
    for name, value in {**others, "option": ", ".join(request.options) or None}.items():
        if value is not None:
            raise InvalidValue(name, value, "nothing, beside a plan", "State it in the file of the plan")
    if request.steps > 1:
        raise InvalidValue("steps", request.steps, "nothing, beside a plan", "State it in the file of the plan")
    return plan_from_file(plan, third_party=request.third_party, allow=request.allow)


def _one_run(request: Request) -> SampledReleases[Any] | KeyedRelease:
    mechanism, sampler = _names(request)
    releases = plan_of(request.resample, request.steps)
    given = chosen(mechanism, sampler, request.options, third_party=request.third_party, allow=request.allow)
    match given:
        case Composition():
            return run_of(given, releases)
        case KeyedComposition():
            return given.run(releases)


def composition_of(request: Request, more: Sequence[str] = ()) -> Composition:
    """Mechanism and sampler of records that a request names, with `more` options beside its own.

    Raises:
        InvalidValue: where one is not named; else as `composed`.
    """
    return composed(*_names(request), [*request.options, *more], third_party=request.third_party, allow=request.allow)


def _names(request: Request) -> tuple[str, str]:
    names = {"mechanism": request.mechanism, "sampler": request.sampler}
    for role, name in names.items():
        if name is None:
            raise InvalidValue(role, "nothing", f"a {role}", f"Name one: --{role} NAME; or state a plan: --plan FILE")
    return str(request.mechanism), str(request.sampler)


def run_of(given: Composition, releases: Releases) -> SampledReleases:
    """The run of a mechanism and a sampler on the public domain that its options state."""
    return SampledReleases(
        mechanism=given.mechanism, sampler=given.stating_sampler, releases=releases, domain=domain_of(given)
    )


def domain_of(given: Composition) -> NormBall | None:
    """The public domain that the run's options state; None where they state none."""
    if "radius" not in given.run:
        if "dimension" in given.run:
            raise InvalidValue("dimension", given.run["dimension"], "nothing, without a radius", "Declare a radius too")
        return None
    dimension = given.run.get("dimension")
    return NormBall(
        norm=SampledReleases.norm_of(given.mechanism, given.stating_sampler),
        radius=Public(given.run["radius"]),
        dimension=None if dimension is None else _whole(dimension),
    )


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidValue("dimension", text, "a whole number ≥ 1") from None


def _as_json(request: Request, releases: _Run, answer: Answer) -> dict[str, Any]:
    guarantee = answer.guarantee
    return {
        "mechanism": request.mechanism,
        "sampler": request.sampler,
        "resample": request.resample,
        "steps": request.steps if request.plan is None else None,
        "plan": None if request.plan is None else {"file": str(request.plan), "releases": _parts(releases)},
        "epsilon": [answer.epsilon.lower, answer.epsilon.upper],
        "delta": [answer.delta.lower, answer.delta.upper],
        "notion": guarantee.bound.notion.name,
        "accountant": answer.accountant.name,
        "composed_in": answer.composed_in.name,
        "order": _order(answer.order),
        "accountants": [
            {"name": row.accountant.name, "bounds": [row.bounds.lower, row.bounds.upper], "order": _order(row.order)}
            for row in answer.compared.rows
        ],
        "guarantee": {
            "statement": answer.statement,
            "unit": guarantee.unit.name,
            "relation": guarantee.relation.name,
            "derivation": str(guarantee.derivation),
            "domain": _stated_domain(releases.domain),
        },
        "assumptions": [{"name": a.name, "value": a.value} for a in guarantee.assumptions],
        "certificate": None if request.certificate is None else str(request.certificate),
        "plot": None if request.plot is None else str(request.plot),
    }


def _parts(releases: _Run) -> list[dict[str, Any]]:
    """What a plan releases, as its file says it."""
    parts = releases.parts if isinstance(releases, Plan) else (releases,)
    return [
        {
            "mechanism": part.plugins[0].about.name,
            "sampler": part.plugins[1].about.name,
            "resample": "once" if part.on_one_sample else "each",
            "steps": part.steps,
        }
        for part in parts
    ]


def _order(order: Fraction | None) -> float | None:
    return None if order is None else float(order)


def _stated_domain(domain: NormBall | None) -> dict[str, Any] | None:
    if domain is None:
        return None
    return {"norm": domain.norm.value, "radius": str(domain.radius.value), "dimension": domain.dimension}


def _print(console: Console, data: dict[str, Any], asked: str) -> None:
    guarantee, domain = data["guarantee"], data["guarantee"]["domain"]
    for part in [data] if data["plan"] is None else data["plan"]["releases"]:
        times = "" if part["steps"] == 1 else f", {part['steps']:,} releases, sampled {_HOW[part['resample']]}"
        console.print(f"[bold]{part['mechanism']}[/bold] on a sample drawn by [bold]{part['sampler']}[/bold]{times}")
    console.print(f"  [bold]{guarantee['statement']}[/bold]", highlight=False)
    if domain is not None:
        console.print(f"  for every record with {norm(domain['norm'])} ≤ {domain['radius']}", markup=False)
    lower, upper = data[asked]
    if lower is None:
        console.print(f"  an upper bound of {_SIGNS[asked]}; no lower bound is proven", markup=False)
    else:
        console.print(f"  the true {_SIGNS[asked]} lies in [{lower!r}, {upper!r}]", markup=False)
    order = "" if data["order"] is None else f" at order {data['order']:.6g}"
    console.print(f"  by {data['accountant']} accounting, in the {data['composed_in']} notion{order}", markup=False)
    if len(data["accountants"]) > 1:
        console.print("  accountants")
        for row in data["accountants"]:
            console.print(f"    {row['name']:<{_NAME_WIDTH}}  {row['bounds'][1]!r}", markup=False)
    print_certified(console, data)
    console.print(f"  unit {guarantee['unit']}, relation {guarantee['relation']}", markup=False)
    console.print(f"  {guarantee['derivation']}", markup=False)
    console.print("  assumptions")
    for item in data["assumptions"]:
        console.print(f"    {item['name']}" + (f" = {item['value']}" if item["value"] else ""), markup=False)


_NAME_WIDTH = max(map(len, _ACCOUNTANTS))
_SIGNS = {"epsilon": "ε", "delta": "δ"}
_HOW = {"once": "once", "each": "afresh for each", None: "afresh for each"}
