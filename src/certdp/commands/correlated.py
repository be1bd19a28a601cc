"""`--strategy`: noise that is correlated over the steps of a run, and which steps a record may take part in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from ..accounting.errors import InvalidValue
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.strategies import CyclicPoisson, Participation, Schema, Strategy, TreeStrategy, strategy_of
from ..mechanisms.gaussian_sum import GaussianSum
from ..runs.correlated import CorrelatedRun
from .composition import Composition
from .options import whole

PARTICIPATION: Mapping[str, str] = MappingProxyType(
    {
        "times": "in how many steps a record takes part at most",
        "apart": "how many steps lie at least between two of them",
        "groups": "how many groups of records take turns",
        "rate": "at which rate a record is drawn in each turn of its group",
    }
)
"""The constants of a participation by name, and what they say."""
_TREE = "tree"


def correlated_run(
    given: Composition, strategy: str, participation: Mapping[str, str], steps: int, domain: NormBall | None
) -> CorrelatedRun:
    """The run of a mechanism with noise that is correlated by a strategy.

    Args:
        given: the mechanism, on everything.
        strategy: tree; Toeplitz coefficients, separated by commas; or an npy file of these or of a matrix.
        participation: its constants by name.
        steps: how many there are; 1 where it is not stated.
        domain: the public domain of the records, where one is stated.

    Raises:
        InvalidValue: for constants that do not belong together, and as `CorrelatedRun`.
    """
    mechanism = given.mechanism
    if not isinstance(mechanism, GaussianSum):
        raise InvalidValue("mechanism", mechanism.about.name, "gaussian-sum", "No theorem has other noise correlated")
    found = _strategy(strategy, steps)
    return CorrelatedRun(mechanism=mechanism, strategy=found, participation=_schema(participation), domain=domain)


def _strategy(text: str, steps: int) -> Strategy:
    stated = None if steps == 1 else steps
    if text == _TREE:
        return TreeStrategy(steps)
    try:
        coefficients = [float(part) for part in text.split(",")]
    except ValueError:
        if not Path(text).is_file():
            admissible = "tree, numbers separated by commas, or an npy file of coefficients or of a matrix"
            raise InvalidValue("strategy", text, admissible, "Name one of them") from None
        return strategy_of(Path(text), stated)
    return strategy_of(coefficients, stated)


def _schema(given: Mapping[str, str]) -> Schema:
    """Who takes part: so often and so far apart; or the groups that take turns, and their rate.

    Raises:
        InvalidValue: for constants of both, and where one is missing.
    """
    drawn = {"groups", "rate"} & given.keys()
    for name in {"times", "apart"} & given.keys() if drawn else ():
        other = f"nothing, beside {min(drawn)}"
        raise InvalidValue(f"participation.{name}", given[name], other, "Groups that take turns have a rate alone")
    needed = ("groups", "rate") if drawn else ("times",)
    for name in needed:
        if name not in given:
            example = f"--option participation.{name}=…"
            raise InvalidValue(f"participation.{name}", "nothing", PARTICIPATION[name], f"State it: {example}")
    if drawn:
        return CyclicPoisson(groups=whole("participation.groups", given["groups"]), rate=given["rate"])
    apart = whole("participation.apart", given.get("apart", "1"))
    return Participation(times=whole("participation.times", given["times"]), apart=apart)
