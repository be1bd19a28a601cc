"""Where an audit of a mechanism gets its neighbouring inputs: from itself, or from what it declares.

By default the data sets are one record and none. The record is chosen among some of the public domain, on an axis and
on the diagonal, from its boundary inwards, as the one whose declared pair loses most; that choice proves nothing, and
needs to prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ...accounting.clipping import Outside, hold
from ...accounting.directions import Direction
from ...accounting.domains import NormBall
from ...accounting.enclosures import Enclosure
from ...accounting.errors import CertdpError
from ...accounting.expressions import Expression, Symbol, W, enclose, variables
from ...accounting.losses import Loss
from ...accounting.rates import Rate
from ...accounting.records import Features, Realisation
from ...plugins.contract import Neighbours
from .statistics import Floats

_DIMENSION = 2  # the least in which it matters how noise is spread over directions
_SIZES = 8
_PRECISION = 96


def telling_record(loss: Loss, drawing: Rate, domain: NormBall | None, epsilon: Fraction) -> Neighbours:
    """The data set of the record about which a sampled release is declared to lose most, and the empty one.

    Args:
        loss: what one record costs, as declared.
        drawing: how records are drawn.
        domain: the public domain; None where no norm of a record matters.
        epsilon: which records lose most is asked at this ε ≥ 0.
    """
    held = hold(np.array(list(_candidates(domain))), domain, Outside.CLIP).features
    realisation = drawing.on(domain).realise(held)
    losses = [_delta(loss, held, realisation, index, epsilon) for index in range(len(held))]
    record = held.records[int(np.argmax(losses))]  # the first of several: nearest to the boundary, on an axis
    shown = ", ".join(f"{entry:.6g}" for entry in record)
    return Neighbours.without_last(record[np.newaxis], f"a record ({shown}), present and absent")


def _candidates(domain: NormBall | None) -> Iterator[Floats]:
    dimension = _DIMENSION if domain is None or domain.dimension is None else domain.dimension
    radius = 1.0 if domain is None else float(domain.radius.value)
    axis, diagonal = np.eye(1, dimension)[0], np.ones(dimension)
    for step in range(_SIZES, 0, -1):
        yield radius * step / _SIZES * axis
    if domain is not None and dimension > 1:
        yield radius * diagonal  # which is clipped


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
