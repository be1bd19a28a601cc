"""Where an audit of a mechanism gets its neighbouring inputs: from itself, or by a search among records.

By default the data sets are one record and none. The records tried lie in a few directions, which tell noise that is
spread unevenly over the entries of an output: in each the one whose declared pair loses most, from the boundary of the
public domain inwards. Which records are tried proves nothing, and needs to prove nothing.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...accounting.enclosures import Enclosure
from ...accounting.errors import CertdpError, InvalidValue
from ...accounting.exact import Floats
from ...accounting.expressions import Expression, Symbol, W, enclose, variables
from ...accounting.relations import Direction
from ...accounting.sampling.clipping import Outside, hold
from ...accounting.sampling.domains import NormBall
from ...accounting.sampling.drawing import Rate
from ...accounting.sampling.losses import Loss
from ...accounting.sampling.records import Features, Realisation
from ...plugins.contract import Neighbours

_DIMENSION = 2  # the least in which it matters how noise is spread over directions
_SIZES = 8
_AXES = 6
_PRECISION = 96
_ALIKE = 9  # digits of a δ that tell records apart
_LARGEST_RADIUS = 10**150  # squares of what is released are floats


def directions(columns: int) -> tuple[tuple[float, ...], ...]:
    """Records of ℓ1 norm 1 to try: on the first axis, on the diagonal, with entries of both signs, on other axes.

    The norms of one length differ most between an axis and the diagonal. Of many axes six are taken, the last among
    them.

    Args:
        columns: d ≥ 1.
    """
    axes = [tuple(float(place == axis) for place in range(columns)) for axis in _some_axes(columns)]
    if columns == 1:
        return tuple(axes)
    diagonal = (1 / columns,) * columns
    alternating = tuple((-1) ** place / columns for place in range(columns))
    return axes[0], diagonal, alternating, *axes[1:]


def _some_axes(columns: int) -> list[int]:
    return sorted({int(axis) for axis in np.linspace(0, columns - 1, min(columns, _AXES))})


def worst_neighbours(loss: Loss, drawing: Rate, domain: NormBall | None, epsilon: Fraction) -> tuple[Neighbours, ...]:
    """In each direction the record about which a sampled release is declared to lose most, present and absent.

    Args:
        loss: what one record costs, as declared.
        drawing: how records are drawn.
        domain: the public domain; None where no norm of a record matters.
        epsilon: which records lose most is asked at this ε ≥ 0.

    Returns:
        At least one, the largest declared loss first; of equal ones the earlier direction.

    Raises:
        InvalidValue: for a radius at which distances between outputs are no floats.
    """
    if domain is not None and domain.radius.value > _LARGEST_RADIUS:
        raise InvalidValue(
            "radius", domain.radius.value, "at most 1e150 for an audit", "Count records and noise in a larger unit"
        )
    columns = _DIMENSION if domain is None or domain.dimension is None else domain.dimension
    tried = directions(columns)
    held = hold(np.concatenate([_along(direction, domain) for direction in tried]), domain, Outside.CLIP).features
    realisation = drawing.on(domain).realise(held)
    losses = [_delta(loss, held, realisation, index, epsilon) for index in range(len(held))]
    best = [group * _SIZES + int(np.argmax(part)) for group, part in enumerate(np.reshape(losses, (-1, _SIZES)))]
    return tuple(
        _present_and_absent(held.records[index])
        for index in sorted(best, key=lambda index: -round(losses[index], _ALIKE))
    )


def _along(direction: tuple[float, ...], domain: NormBall | None) -> Floats:
    """Records in a direction, the largest first: on the boundary of the domain, or of norm at most 1 without one."""
    radius = 1.0 if domain is None else float(domain.radius.value)
    edge = radius * np.array([direction])  # on an axis all norms are one, elsewhere ℓ1 is the largest
    if domain is not None and max(direction) < 1:
        edge = hold(len(direction) * edge, domain, Outside.CLIP).features.records
    return np.asarray(edge * (np.arange(_SIZES, 0, -1) / _SIZES)[:, np.newaxis])


def _present_and_absent(record: Floats) -> Neighbours:
    shown = ", ".join(f"{entry:.6g}" for entry in record)
    return Neighbours.without_last(record[np.newaxis], f"a record ({shown}), present and absent")


def _delta(loss: Loss, features: Features, realisation: Realisation, index: int, epsilon: Fraction) -> float:
    """δ of the declared pair at ε, in the worse direction; below 0 where nothing is known of it."""
    rate = float(realisation.probability[index])
    if not rate:
        return -1.0
    known = {W: Enclosure.of(float(realisation.weight[index]), precision=_PRECISION)}
    for variable in (v for root in loss.features for v in variables(root) if v.symbol is Symbol.NORM):
        features.norm(variable)
    known.update(features.enclosures(index, precision=_PRECISION))

    def read(root: Expression) -> Enclosure:
        return enclose(root, known, precision=_PRECISION)

    try:
        law = loss.pair(read).sampled(Enclosure.of(rate, precision=_PRECISION)).delta
        if law is None:
            return -1.0
        level = Enclosure.of(epsilon, precision=_PRECISION)
        return max(law(level, direction).upper_float for direction in Direction)
    except CertdpError:
        return -1.0
