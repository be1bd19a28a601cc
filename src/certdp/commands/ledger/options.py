"""What several commands of `certdp ledger` take: the ledger, and the numbers of a bound."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from attrs import asdict, frozen

from ...accounting.enclosures import Enclosure
from ...accounting.errors import InvalidValue
from ...accounting.exact import exact
from ...accounting.filters import Remaining
from ...accounting.notions import Approximate, Bound, GaussianDP, Pure, Renyi, ZeroConcentrated

Where = Annotated[
    str, typer.Argument(metavar="LEDGER", help="The file of the ledger, or postgresql://…", show_default=False)
]
Anchor = Annotated[
    Path | None,
    typer.Option("--anchor", metavar="FILE", help="The head of the log, kept elsewhere: compared, and written anew."),
]
By = Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who acts; else the user of the system.")]

_KINDS: dict[tuple[str, ...], Any] = {
    ("epsilon",): Pure,
    ("epsilon", "delta"): Approximate,
    ("rho",): ZeroConcentrated,
    ("mu",): GaussianDP,
    ("order", "tau"): Renyi,
}
_ADMISSIBLE = "--epsilon; --epsilon and --delta; --rho; --mu; or --order and --tau"


@frozen(kw_only=True)
class StatedBound:
    """The numbers of a bound, read exactly: 1/3 is a third."""

    epsilon: Annotated[str | None, typer.Option(metavar="E", help="ε of pure or approximate DP.")] = None
    delta: Annotated[str | None, typer.Option(metavar="D", help="δ of approximate DP, beside ε.")] = None
    rho: Annotated[str | None, typer.Option(metavar="R", help="ρ of zero-concentrated DP.")] = None
    mu: Annotated[str | None, typer.Option(metavar="M", help="μ of Gaussian DP.")] = None
    order: Annotated[str | None, typer.Option(metavar="A", help="Order α of Rényi DP, beside τ.")] = None
    tau: Annotated[str | None, typer.Option(metavar="T", help="τ of Rényi DP, at that order.")] = None

    def bound(self, of: Bound | None = None) -> Any:
        """The bound, in the notion that the numbers mean.

        Args:
            of: a bound of the notion that is wanted; an ε alone is then an approximate bound with δ = 0, too.

        Raises:
            InvalidValue: for numbers that are no bound, of another notion, and out of range.
        """
        stated = {name: text for name, text in asdict(self).items() if text is not None}
        if isinstance(of, Approximate) and set(stated) == {"epsilon"}:
            stated["delta"] = "0"
        names = next((names for names in _KINDS if set(names) == set(stated)), None)
        if names is None:
            given = " and ".join(f"--{name}" for name in stated) or "no bound"
            raise InvalidValue("bound", given, _ADMISSIBLE, "State the numbers of one notion")
        numbers = {name: exact(stated[name], parameter=name) for name in names}
        for name, number in numbers.items():
            if number < 0:
                raise InvalidValue(name, stated[name], "a number ≥ 0")
        found = _KINDS[names](**{name: n if name == "order" else Enclosure.of(n) for name, n in numbers.items()})
        if of is not None and type(found) is not type(of):
            wanted = next(names for names, kind in _KINDS.items() if kind is type(of))
            admissible = " and ".join(f"--{name}" for name in wanted)
            given = " and ".join(f"--{name}" for name in stated)
            raise InvalidValue("bound", given, f"{admissible}, as the ledger's budget", "Convert the cost first")
        return found


def left_as_json(left: Remaining[Any]) -> dict[str, object]:
    """What is left: its numbers as binary64, rounded down, and exactly."""
    exact_numbers = {name: _exactly(value) for name, value in _numbers(left.bound).items()}
    return {**bound_as_json(left.rounded_down), "exact": exact_numbers}


def _exactly(value: Any) -> str:
    """A number as text; the lower end of an enclosure whose number is not known."""
    if not isinstance(value, Enclosure):
        return str(value)
    return str(value.lower if value.number is None else value.number)


def bound_as_json(bound: Bound) -> dict[str, object]:
    """The numbers of a bound as binary64, rounded up."""
    numbers = _numbers(bound)
    shown = {name: value.upper_float if isinstance(value, Enclosure) else str(value) for name, value in numbers.items()}
    return {"notion": bound.notion.name, **shown}


def _numbers(bound: Any) -> dict[str, Any]:
    return asdict(bound, recurse=False)
