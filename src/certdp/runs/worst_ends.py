"""Which end of a released parameter's range costs most: certificates are written there, and cover every other value.

Floats tell which end it is; that no other value costs more is for the checker to prove.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from ..accounting.expressions import Expression, Symbol, Variable, evaluate, variables
from ..accounting.provenance import Released

_NORMS = np.geomspace(1e-9, 1e9, 37)
_WEIGHT = 3.0
_TOLD_APART = 1e-12


def worst_ends(roots: Sequence[Expression], released: Mapping[str, Released[Any]]) -> dict[str, Any]:
    """The value at which every one of `roots` is largest, of each parameter with a range in which they move.

    Args:
        roots: what a record costs, and the rate with which it is drawn: in norms, the weight and places of parameters.
        released: the parameters by name.

    Raises:
        InvalidValue: where neither end is the worst.
    """
    places = {v.index: v for root in roots for v in variables(root) if v.symbol is Symbol.PLACE}
    found: dict[str, Any] = {}
    for name, place in places.items():
        limits = released[name].within
        assert limits is not None  # else there were no place
        rises = np.concatenate([_difference(root, place) for root in roots])
        if not (np.all(rises >= 0) or np.all(rises <= 0)):
            raise InvalidValue(
                "certificate",
                f"{name} within {limits}",
                "a range of which one end costs most, for every record",
                "There is no kind of certificate yet for other ranges: leave the certificate out",
            )
        found[name] = limits.high if np.any(rises > 0) else limits.low
    return found


def _difference(root: Expression, place: Variable) -> Floats:
    """How much more the upper end of a range costs than the lower one, at some norms."""
    with np.errstate(all="ignore"):  # what overflows at both ends tells nothing, and NaN is no difference
        ends = (evaluate(root, _values(variables(root), place, end)) for end in (1.0, 0.0))
        high, low = (np.broadcast_to(end, _NORMS.shape) for end in ends)
        change = high - low
        return np.asarray(np.where(np.abs(change) > _TOLD_APART * np.abs(high), change, 0.0))


def _values(occurring: Iterable[Variable], place: Variable, at: float) -> dict[Variable, Any]:
    given = {Symbol.NORM: _NORMS, Symbol.WEIGHT: _WEIGHT, Symbol.ROUNDING: 0.0, Symbol.PLACE: 0.5}
    return {v: at if v == place else given[v.symbol] for v in occurring}
