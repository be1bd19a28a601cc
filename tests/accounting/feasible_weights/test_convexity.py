"""What is proven of losses as functions of the weight, against derivatives and signs computed by mpmath."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from mpmath.ctx_mp import MPContext

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.expressions import Expression, Range, W, evaluate, log1p, norm, sqrt
from certdp.accounting.feasible_weights.convexity import convexity, non_negative_on_ray

X = norm(1)
V = 1 / W
UP_TO_TWO = {X: Range(Fraction(0), Fraction(2))}
ANY = {X: Range(Fraction(0), None)}

_context: Any = MPContext()
_context.prec = 120


@pytest.mark.parametrize(
    ("root", "box"),
    [
        (W - 1, {}),
        (sqrt(W) - 1, {}),
        (V - V * V, {}),
        (1 / sqrt(W) - V, {}),
        (W ** Fraction(-1, 3) - W ** Fraction(-2, 3), {}),
        (W ** Fraction(-5, 2) - W ** Fraction(-7, 2), {}),
        (1 - 3 * V + Fraction(226, 100) * V * V, {}),  # pieces decide where it is least, at w = 1.5
        (1 - 40 * V + 401 * V * V, {}),  # and here at w = 20
        (W - X + 1, UP_TO_TWO),
        (1 - 3 * V + Fraction(226, 100) * V * V + X, UP_TO_TWO),
        (W * X + 1, ANY),
    ],
    ids=str,
)
def test_non_negative(root: Expression, box: dict[Any, Range]) -> None:
    assert non_negative_on_ray(root, box)


@pytest.mark.parametrize(
    ("root", "box", "weight", "size"),
    [
        (W - Fraction(3, 2), {}, 1.25, 0),
        (10 - W, {}, 11, 0),
        (1 - W / 2**30, {}, 2**31, 0),
        (1 - 3 * V + Fraction(224, 100) * V * V, {}, 1.5, 0),
        (1 - 40 * V + Fraction(3999, 10) * V * V, {}, 20, 0),
        (1 - 200 * V + 9999 * V * V, {}, 100, 0),
        ((W - 3) ** 2 - Fraction(1, 100), {}, 3, 0),
        (W - X, UP_TO_TWO, 1, 2),
        (1 - 3 * V + Fraction(226, 100) * V * V - X / 50, UP_TO_TWO, 1.5, 2),
        (W - X / 100, ANY, 1, 200),
    ],
    ids=str,
)
def test_what_is_negative_somewhere_is_not_proven(
    root: Expression, box: dict[Any, Range], weight: float, size: float
) -> None:
    assert evaluate(root, {W: weight, X: size}) < 0
    assert not non_negative_on_ray(root, box)


@pytest.mark.parametrize(
    ("loss", "at"),
    [
        (W / 10, lambda w: w / 10),
        (W ** Fraction(3, 2), lambda w: w**1.5),
        (Fraction(6, 5) * sqrt(W), lambda w: _context.mpf("1.2") * _context.sqrt(w)),
        (sqrt(W) / 2, lambda w: _context.sqrt(w) / 2),
        (W ** Fraction(1, 3) / 2, lambda w: _context.cbrt(w) / 2),
        (1 / W, lambda w: 1 / w),
        (W + 1 / W, lambda w: w + 1 / w),
        ((W - 2) ** 2, lambda w: (w - 2) ** 2),
        (log1p(W), _context.log1p),
        (log1p(sqrt(W)), lambda w: _context.log1p(_context.sqrt(w))),
        (log1p(W * W), lambda w: _context.log1p(w * w)),
        (log1p(W ** Fraction(3, 2)), lambda w: _context.log1p(w**1.5)),
        (log1p(W**3), lambda w: _context.log1p(w**3)),
    ],
    ids=lambda given: str(given) if isinstance(given, Expression) else "",
)
def test_convex_and_growing(loss: Expression, at: Callable[[Any], Any]) -> None:
    """e^ε has those derivatives at sampled weights, and the modulus is its second derivative at w = 1."""
    weights = [1 + _context.mpf(k) ** 2 / 8 for k in range(1, 9)]
    second, third = ([_context.diff(lambda w: _context.exp(at(w)), weight, n) for weight in weights] for n in (2, 3))
    found = convexity(loss, {})
    assert found.convex is (min(second) >= -1e-15)
    assert found.growing is (found.convex and min(third) >= -1e-15)
    modulus = found.modulus(loss, {}, precision=96)
    least = _context.diff(lambda w: _context.exp(at(w)), 1, 2)
    if not found.growing or least < 1e-15:
        assert modulus is None
    else:
        assert modulus is not None
        assert abs(modulus.midpoint / Fraction(str(_context.nstr(least, 25))) - 1) < Fraction(1, 10**12)


@pytest.mark.parametrize("place", [Fraction(5, 4), Fraction(3, 2), Fraction(3)])
def test_a_kink_downwards_is_not_convex(place: Fraction) -> None:
    assert not convexity(5 - sqrt((W - place) ** 2), {}).convex  # its slope is 1, then −1; both squared are 1


def test_the_modulus_of_a_box_is_the_least() -> None:
    loss = W * (X + 1)
    modulus = convexity(loss, UP_TO_TWO).modulus(loss, {X: Enclosure.between(0, 2)}, precision=96)
    assert modulus is not None
    assert modulus.contains(Enclosure.of(1).exp())  # A²e^A at A = 1
    assert modulus.lower > Fraction(271, 100)
