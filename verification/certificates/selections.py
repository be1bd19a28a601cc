"""What certificates say of the best of several runs: lines below its tilts, and the profile of one run where these ask.

Symbols as in `accounting.selection.tilts`. The lines are those of the library's own bound; the checker proves them anew
from the profile of one run, which is stated at the places that they need: where lines are made, and at ε + log m_j for
each piece of the largest, every point by a method of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from ...accounting.enclosures import Enclosure
from ...accounting.errors import InvalidType
from ...accounting.exact import ratio_text
from ...accounting.relations import Direction
from ...accounting.selection import NegativeBinomialRepetitions, PoissonRepetitions, RandomRepetitions, Selected
from ...accounting.selection.tilts import Tilts
from .lines import Release, line_for
from .writing import Json

Points: TypeAlias = Callable[[Fraction, Direction], "Json | None"]
"""The method that proves δ of one run at an ε in a direction, or None where there is none."""

_STOP_BITS = 128
_SLACK = Fraction(1, 2**24)  # the first place is found to so much, and δ is proven to about so much
_BELOW = Fraction(1, 2**40)
_SHORTEST = Fraction(1, 2**20)
_FAINT = 20.0  # nats
_STRIDE = 2.0**-10


def law_as_json(repetitions: RandomRepetitions) -> Json:
    """The law of the number of runs.

    Raises:
        InvalidType: for another one than those of certdp.
    """
    match repetitions:
        case PoissonRepetitions(mean=mean):
            return {"name": "poisson", "mean": ratio_text(mean.value)}
        case NegativeBinomialRepetitions(mean=mean, shape=shape):
            stop = repetitions.stop_at(_STOP_BITS)
            ends = [1 / mean.value] * 2 if shape.value == 1 else [stop.lower * (1 - _BELOW), stop.upper * (1 + _BELOW)]
            numbers = {"mean": ratio_text(mean.value), "shape": ratio_text(shape.value)}
            return {"name": "negative-binomial", **numbers, "stop": list(map(ratio_text, ends))}
    raise InvalidType("repetitions", repetitions, "negative binomial or Poisson repetitions")


def proof_as_json(best: Selected, epsilon: Fraction, points: Points) -> Json | None:
    """The law, and the lines and points of each direction for δ at an ε; None where a point has no method."""
    lines = {direction: _lines(tilts) for direction, tilts in best.tilts.items()}
    places: dict[Direction, set[Fraction]] = {direction: set() for direction in Direction}
    for direction, (first, tangents) in lines.items():
        places[direction.other] |= {first, *(x for x, _ in tangents)}
        for log_slope in (_log_first(best, direction, first), *(_log(slope) for _, slope in tangents)):
            place = epsilon + log_slope
            asked = direction if place >= 0 else direction.other
            places[asked].add(max(abs(place) - _BELOW, Fraction(0)))
    found: Json = {"repetitions": law_as_json(best.repetitions)}
    for direction, (first, tangents) in lines.items():
        methods = {place: points(place, direction) for place in sorted(places[direction])}
        if None in methods.values():
            return None
        found[direction.value] = {
            "first": ratio_text(first),
            "tangents": [{"at": ratio_text(x), "slope": ratio_text(slope)} for x, slope in tangents],
            "points": [{"epsilon": ratio_text(place), "method": method} for place, method in methods.items()],
        }
    return found


def fall(best: Selected, epsilon: float) -> float | None:
    """By about how much log δ of one run falls as ε grows, about as that of the best; None where it is not told."""
    law = best.base.delta
    assert law is not None
    near, far = (
        law(Enclosure.of(at), best.directions[0]).upper_float for at in (epsilon, epsilon * (1 + _STRIDE) + _STRIDE)
    )
    return math.log(near / far) / (epsilon * _STRIDE + _STRIDE) if 0 < far < near else None


def _log(slope: Fraction) -> Fraction:
    return Fraction(Enclosure.of(slope).log().lower_float)


def _log_first(best: Selected, direction: Direction, first: Fraction) -> Fraction:
    """About the logarithm of the first slope, as it follows from the place; that of Poisson numbers moves with δ(0)."""
    match best.repetitions:
        case NegativeBinomialRepetitions(shape=shape):
            return -(shape.value + 1) * first
    return _log(best.tilts[direction].first) * (1 + _SLACK)


def _lines(tilts: Tilts) -> tuple[Fraction, list[tuple[Fraction, Fraction]]]:
    """Where the first line is made, a little farther out, and x and the slope of all others on pieces that are long."""
    ends = [*(begin for begin, _ in tilts.pieces[1:]), Fraction(1)]
    long = [line for (begin, line), end in zip(tilts.pieces, ends, strict=True) if end - begin > _SHORTEST]
    first = tilts.start + _SLACK if tilts.start else Fraction(0)
    return first, [(line.place, line.slope) for line in long if line.intercept < 0 and line.slope > tilts.first]


def directly(epsilon: Fraction, direction: Direction) -> Json:
    """The divergence itself of what is one release."""
    return {"name": "hockey-stick"}


def by_lines(best: Selected, releases: list[Release], cells: int, work: float, log_delta: float) -> Points:
    """The moments of one run's loss, on a line for each point.

    Args:
        best: the pair of the best run.
        releases: those of one run.
        cells: those of Laplace noise, or 0.
        work: what the checker may spend on a point, in places.
        log_delta: about log δ of the best: of one run nothing is told apart that is far less.
    """
    faint = log_delta - math.log(best.repetitions.mean_at(_STOP_BITS).upper_float) - _FAINT

    def points(epsilon: Fraction, direction: Direction) -> Json | None:
        law = best.base.delta
        assert law is not None
        delta = law(Enclosure.of(epsilon), direction).upper_float
        level = max(math.log(delta), faint) if delta else faint
        line = line_for(releases, float(epsilon), level, direction, work, cells)
        if line is None:
            return None
        return {"name": "loss-distribution", **dict.fromkeys((one.value for one in Direction), line.as_json())}

    return points
