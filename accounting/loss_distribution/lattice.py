"""δ(ε) of many independent releases from their losses on a lattice, proven from both sides.

Legend: a part is the loss of one release and how often it is repeated; h is the spacing of the lattice, N how many
points the sum of all losses is kept at, indices count spacings. Each part's law is replaced by one above and one below
it whose losses lie on the lattice; masses are multiplied by e^(θ·index), the tilt, so that those near the ε asked for
weigh most; the sums of the losses then have the product of the parts' Fourier transforms, taken to the powers of their
counts. Indices are kept modulo N; what lies outside the window of N indices is bounded by moments at two other tilts.
Where large losses are rare, no tilt serves both them and the rest: each part is then peeled, its law p = a + b cut into
common losses a and rare large ones b, and the terms of p^n = Σ C(n, k)·a^(n − k)·b^k are composed apart, each with its
own tilt and window. The proofs are in `docs/soundness_lattice.md`. `lattice_plans` estimates, `lattice_sums` proves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from ..enclosures import Enclosure
from ..enclosures.arguments import non_negative, probability, whole
from ..errors import InvalidValue
from ..exact import Floats
from .cells import Cells
from .lattice_plans import (
    FEWEST_POINTS,
    GAP,
    MOST_POINTS,
    Parts,
    Shape,
    delta_of_one,
    epsilon_of_one,
    plan_at,
    plan_for_delta,
    plan_for_epsilon,
    plan_peeled,
)
from .lattice_sums import Composed, composed

_MOST_RELEASES = 1 << 40
_ASTRAY = 0.05
_LOOSE, _LOOSE_DELTA = 8e-4, 0.05
_COARSER_GAP = 3e-4  # its lattice is small, and rare large losses, set apart, may be nearer on it
_FINER_GAPS = 1e-7, 1e-9
_MOST_ROUNDS = 4


def delta_by_lattice(parts: Sequence[tuple[Cells, int]], epsilon: Enclosure, *, points: int | None = None) -> Enclosure:
    """δ(ε) of the composition of independent releases, in the direction that the cells are given in.

    Args:
        parts: the loss of a release and how often it is repeated, at least once; at least one.
        epsilon: at least 0.
        points: the most lattice points, a power of two from 2^8 to 2^22; where it is None, as many as a gap in ε of
            about 10^-3, relatively, takes: finer lattices are tried until that is reached.

    Guarantees: both ends are proven; the lower one is 0 where a part has no law below.

    Raises:
        InvalidValue: outside these ranges. InvalidType: for other types.
    """
    merged, most = _merged(parts), _most_points(points)
    level = non_negative("epsilon", epsilon)
    return _refined(
        lambda gap: _delta(merged, level.lower_float, level.upper_float, most, gap),
        most,
        Fraction(_LOOSE_DELTA),
        two_sided=_two_sided(merged),
    )


def _delta(parts: Parts, least: float, greatest: float, most: int | None, gap: float) -> Enclosure:
    """Enclose δ over a range of ε on one lattice, or two where rare large losses are set apart."""
    about = (least + greatest) / 2
    found = composed(parts, plan_for_epsilon(parts, about, most, gap)).delta(least, greatest)
    if about and found.upper - found.lower > found.upper * _LOOSE_DELTA:
        shape = Shape(parts)
        guess = min(max(delta_of_one(shape, about), found.lower_float), found.upper_float)
        peeled = _peeled(parts, shape.without_rarest(guess), about, guess, most, gap) if guess else None
        if peeled is not None:
            found = found.intersection(peeled.delta(least, greatest))
    return found


def epsilon_by_lattice(parts: Sequence[tuple[Cells, int]], delta: Enclosure, *, points: int | None = None) -> Enclosure:
    """The least ε ≥ 0 with δ(ε) ≤ δ; arguments and guarantees as of `delta_by_lattice`.

    Args:
        parts: the loss of a release and how often it is repeated.
        delta: above 0, at most 1.
        points: the most lattice points.

    Raises:
        InvalidValue: outside these ranges, and where no ε is proven to suffice, as where an infinite loss has a mass
            of more than δ. InvalidType: for other types.
    """
    merged, most = _merged(parts), _most_points(points)
    target = probability("delta", delta)
    if target.lower_float <= 0.0:
        raise InvalidValue("delta", delta, "an enclosure of numbers in (0, 1]")
    return _refined(
        lambda gap: _epsilon(merged, target, most, gap), most, Fraction(_LOOSE), two_sided=_two_sided(merged)
    )


def _two_sided(parts: Parts) -> bool:
    """Whether there is a lower end that finer lattices may raise."""
    return all(cells.below is not None for cells, _ in parts)


def _refined(
    bounded: Callable[[float], Enclosure], most: int | None, loose: Fraction, *, two_sided: bool = True
) -> Enclosure:
    """Enclose with two lattices, and finer ones as long as both ends lie apart; what a coarser one proves stays."""
    found, refusal = None, None
    for gap in (GAP,) if most is not None else (_COARSER_GAP, GAP, *_FINER_GAPS):
        try:
            further = bounded(gap)
        except InvalidValue as error:
            refusal = error
            if error.parameter == "parts":  # no lattice holds the losses, and a finer one less
                break
            continue
        found = further if found is None else found.intersection(further)
        if gap != _COARSER_GAP and (not two_sided or found.upper - found.lower <= found.upper * loose):
            break
    if found is None:
        raise refusal if refusal is not None else AssertionError
    return found


def _epsilon(parts: Parts, target: Enclosure, most: int | None, gap: float) -> Enclosure:
    """Enclose the least ε on one lattice, or several where it was not where the first one was laid out for."""
    plan = plan_for_delta(parts, target.lower_float, most, gap)
    found = composed(parts, plan).epsilon(target)
    if abs(found.upper_float - plan.epsilon) > _ASTRAY * found.upper_float:  # the tilt was made for another ε
        again = composed(parts, plan_for_epsilon(parts, found.upper_float, most, gap))
        if again.least_delta.upper <= target.lower:
            found = found.intersection(again.epsilon(target))
    if found.upper - found.lower > found.upper * _LOOSE:
        found = _closer(parts, target, found, most, gap)
    return found


def _closer(parts: Parts, target: Enclosure, found: Enclosure, most: int | None, gap: float = GAP) -> Enclosure:
    """Enclose the least ε more closely, with rare large losses apart."""
    shape = Shape(parts).without_rarest(target.lower_float)
    epsilon = min(max(epsilon_of_one(shape, target.lower_float), found.lower_float), found.upper_float)
    for _ in range(_MOST_ROUNDS):
        peeled = _peeled(parts, shape, epsilon, target.lower_float, most, gap) if epsilon else None
        if peeled is None or peeled.least_delta.upper > target.lower:
            break
        found = found.intersection(peeled.epsilon(target))
        if found.upper_float - epsilon <= _ASTRAY * found.upper_float:
            break
        epsilon = found.upper_float
    return found


def _peeled(parts: Parts, shape: Shape, epsilon: float, delta: float, most: int | None, gap: float) -> Composed | None:
    """The composition with rare large losses apart; None where that does not help."""
    try:
        plan = plan_peeled(parts, shape, epsilon, delta, most, gap)
        return None if plan is None else composed(parts, plan)
    except InvalidValue:  # no lattice of that spacing holds the losses: what is known already remains
        return None


def loss_masses(parts: Sequence[tuple[Cells, int]], *, points: int | None = None) -> tuple[Floats, Floats]:
    """Losses of the composition and about their masses, for a plot: it proves nothing.

    Args:
        parts: the loss of a release and how often it is repeated.
        points: the most lattice points.

    Returns:
        The losses of the lattice, rising, and the masses of the dominating law at them; infinite losses are left out.
    """
    merged, most = _merged(parts), _most_points(points)
    return composed(merged, plan_at(merged, Shape(merged), 0.0, 0.0, 1.0, most)).masses()


def _merged(parts: Iterable[tuple[Cells, int]]) -> Parts:
    counts: Counter[Cells] = Counter()
    for cells, times in parts:
        counts[cells] += whole("times", times, 1)
    if not counts:
        raise InvalidValue("parts", (), "at least one part")
    if counts.total() > _MOST_RELEASES:
        raise InvalidValue("parts", f"{counts.total()} releases", f"at most {_MOST_RELEASES} releases")
    return tuple(counts.items())


def _most_points(points: int | None) -> int | None:
    if points is None:
        return None
    if not FEWEST_POINTS <= whole("points", points, 1) <= MOST_POINTS or points & (points - 1):
        raise InvalidValue("points", points, f"a power of two from {FEWEST_POINTS} to {MOST_POINTS}")
    return points
