"""`certdp psi` about sampled keys: δ between neighbouring frequencies at an ε, and over all of them."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from ...accounting.accountants import LOSS_DISTRIBUTION, Bounds
from ...accounting.directions import Direction
from ...accounting.enclosures import Enclosure
from ...accounting.errors import InvalidValue
from ...accounting.pairs import FinitePair
from ...accounting.units import Epsilon
from ...data import refuse_without_file
from ...durable.files import write_whole
from ...runs.keyed import KeyedRelease
from ...runs.sampled import statement_of
from ...runs.sampled_releases import Interval
from ..composition import KeyedComposition
from ..output import Output
from ..outputs import check_places, checked_certificate
from .request import Request

_MOST_LISTED = 100
_SHOWN = 12
_WHY = (
    "IS Theorem 6 is not used: an element changes the frequency of its key, and with it the probability with which "
    "the key is sampled; the rows of neighbouring frequencies are compared instead"
)


def run_keyed(request: Request, given: KeyedComposition, output: Output) -> None:
    """Compose, compare neighbouring rows, prove the supremum; then print."""
    _refuse_what_records_need(request)
    check_places(None, request.places)
    if request.certificate is not None and request.epsilon is not None:
        raise InvalidValue(
            "certificate",
            str(request.certificate),
            "nothing, beside an ε",
            "A certificate states the (ε, δ) of the mechanism, at every frequency: leave --epsilon out",
        )
    release = given.run_once()
    reporting = release.reporting
    epsilon = reporting.epsilon if request.epsilon is None else Epsilon(request.epsilon)
    answer = release.delta(epsilon, accountant=LOSS_DISTRIBUTION)
    last = _listed(request, release)
    if request.certificate is not None:
        write_whole(request.certificate, checked_certificate("certificate", release.certificate()))
    level = Enclosure.of(epsilon.value, precision=release.precision)
    mechanism, sampler = (statement_of(plugin).as_json() for plugin in release.plugins)
    guarantee = answer.guarantee
    data = {
        "mechanism": mechanism,
        "sampler": sampler,
        "notion": guarantee.bound.notion.name,
        "unit": guarantee.unit.name,
        "epsilon": answer.epsilon.upper,
        "delta": [answer.delta.lower, answer.delta.upper],
        "frequencies": [
            {"frequency": frequency, **_divergences(pair, level)}
            for frequency, pair in enumerate(release.neighbours(range(1, last + 1)), start=1)
        ],
        "guarantee": {
            "kind": "differential privacy for keys of every frequency",
            "statement": answer.statement,
            "notion": guarantee.bound.notion.name,
            "unit": guarantee.unit.name,
            "relation": guarantee.relation.name,
            "theorem": str(guarantee.derivation),
            "why": _WHY,
        },
        "assumptions": [{"name": a.name, "value": a.value} for a in guarantee.assumptions],
        "certificate": None if request.certificate is None else str(request.certificate),
    }
    output.show(data, lambda console: _print(console, data))


def _refuse_what_records_need(request: Request) -> None:
    refuse_without_file(request.reading)
    outside = None if request.outside == "clip" else request.outside
    for name, value, remedy in (
        ("data", request.data, "What is lost does not depend on the data: leave the file out"),
        ("outside", outside, "Leave it out: keys have no norm"),
        ("delta", request.delta, "Ask `certdp epsilon` for ε at a δ"),
        ("order", request.order, "No Rényi bound is finite: a key that one data set lacks may be reported"),
        ("owner-certificate", request.owner_certificate, "Leave it out: nothing here is computed from data"),
        ("owner-plot", request.owner_plot, "Leave it out: nothing here is computed from data"),
        ("plot", request.plot, "Leave it out; `certdp delta --plot` plots δ(ε)"),
    ):
        if value is not None:
            raise InvalidValue(name, str(value), "nothing, for keyed data", remedy)


def _listed(request: Request, release: KeyedRelease) -> int:
    """The last frequency to list."""
    end = release.reporting.last
    if request.max_frequency is None:
        return min(release.band + 1, _MOST_LISTED, end or _MOST_LISTED)
    if end is not None and request.max_frequency > end:
        raise InvalidValue(
            "max-frequency", request.max_frequency, f"at most {end}, the last frequency with a row of its own"
        )
    return request.max_frequency


def _divergences(pair: FinitePair, epsilon: Enclosure) -> dict[str, list[float | None]]:
    """Both directions, by name: the element is present, or absent, in the data whose outcomes are likelier."""

    def ends(direction: Direction) -> list[float | None]:
        bounds = Interval.of(Bounds(pair.delta(epsilon, direction).maximum(0), two_sided=True))
        return [bounds.lower, bounds.upper]

    return {"remove": ends(Direction.REMOVE), "add": ends(Direction.ADD)}


def _print(console: Console, data: dict[str, Any]) -> None:
    guarantee = data["guarantee"]
    mechanism, sampler = data["mechanism"]["name"], data["sampler"]["name"]
    console.print(f"[bold]{mechanism}[/bold] on keys sampled by [bold]{sampler}[/bold]")
    lower, upper = data["delta"]
    console.print(f"  [bold]δ ≤ {upper!r}[/bold] at ε = {data['epsilon']!r} for one element of a key of any frequency")
    if lower is not None:
        console.print(f"         (the supremum over all frequencies lies in [{lower!r}, {upper!r}])")
    console.print(f"  {guarantee['notion']} DP, unit {data['unit']}, relation {guarantee['relation']}", highlight=False)
    console.print(f"  {guarantee['theorem']}", markup=False)
    console.print(f"  {guarantee['why']}", markup=False)
    console.print("  assumptions")
    for item in data["assumptions"]:
        console.print(f"    {item['name']}" + (f" = {item['value']}" if item["value"] else ""), markup=False)
    table = Table("frequency", "δ, with it against without", "δ, without against with", box=None)
    for row in data["frequencies"][:_SHOWN]:
        table.add_row(str(row["frequency"]), *(f"{row[way][1]:.6g}" for way in ("remove", "add")))
    console.print(table)
    hidden = len(data["frequencies"]) - _SHOWN
    if hidden > 0:
        console.print(f"  and {hidden} more in --json", markup=False)
    if data["certificate"] is not None:
        console.print(f"certificate: {data['certificate']}", markup=False, soft_wrap=True)
