"""When one pair dominates another: what an adaptive run with pairs declared beforehand rests on.

A pair dominates another where each hockey-stick divergence of the other is at most its own. A run whose t-th mechanism
is chosen by earlier outputs among those that the t-th declared pair dominates is dominated by all declared pairs
together (Zhu, Dong, Wang 2022, Theorem 10).
"""

from __future__ import annotations

from functools import singledispatch

from ..enclosures import Enclosure, Truth
from . import GaussianPair, LaplacePair, Pair, RandomisedResponsePair
from .pair import larger_pure_loss


@singledispatch
def dominates(declared: Pair, other: Pair) -> Truth:
    """Whether `declared` is known to dominate `other`.

    Guarantees: TRUE is proven. FALSE and UNDECIDED say only that it is not known; a pair always dominates itself.

    >>> three, two = (RandomisedResponsePair(Enclosure.of(epsilon)) for epsilon in (3, 2))
    >>> dominates(three, LaplacePair(Enclosure.of(2)))
    <Truth.TRUE: 'true'>
    """
    return Truth.TRUE if declared == other else Truth.UNDECIDED


@dominates.register
def _(declared: RandomisedResponsePair, other: Pair) -> Truth:
    """It dominates every pair with its pure loss (Kairouz, Oh, Viswanath 2015)."""
    loss = larger_pure_loss(other.pure)
    return Truth.UNDECIDED if loss is None else _at_most(loss, declared.epsilon)


@dominates.register
def _(declared: GaussianPair, other: Pair) -> Truth:
    """It dominates every pair with its μ, by the meaning of μ."""
    mu = other.gaussian
    return Truth.UNDECIDED if mu is None else _at_most(mu, declared.shift)


@dominates.register
def _(declared: LaplacePair, other: Pair) -> Truth:
    """It dominates those of the same family with a smaller shift."""
    return _laplace(other, declared)


@singledispatch
def _laplace(other: Pair, declared: LaplacePair) -> Truth:
    return Truth.UNDECIDED


@_laplace.register
def _(other: LaplacePair, declared: LaplacePair) -> Truth:
    return _at_most(other.shift, declared.shift)


def _at_most(value: Enclosure, declared: Enclosure) -> Truth:
    """Whether a number is at most the upper end of a declared one, with which guarantees hold."""
    return value.less_equal(declared.upper)
