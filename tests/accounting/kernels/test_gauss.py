"""Gauss's rules that proofs rest on are exact but for the rounding to binary64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from certdp.accounting._kernels.gauss import gauss_rule

mp: Any = mpmath.mp  # its stubs leave most functions out
Rule = Callable[[int], tuple[np.ndarray, np.ndarray]]


def exact(count: int, near: float) -> tuple[mpf, mpf]:
    """A node, as a root of Legendre's polynomial, and its weight."""
    with mp.workdps(60):
        node = mp.findroot(lambda x: mp.legendre(count, x), mpf(near))
        slope = count * (node * mp.legendre(count, node) - mp.legendre(count - 1, node)) / (node * node - 1)
        return node, 2 / ((1 - node * node) * slope**2)


def is_nearest(rule: Rule, count: int) -> bool:
    return all(
        (float(node), float(weight)) == tuple(map(float, exact(count, float(node))))
        for node, weight in zip(*rule(count), strict=True)
    )


@pytest.mark.parametrize("count", [4, 8, 16])
def test_nodes_and_weights_are_the_nearest(count: int) -> None:
    nodes, weights = gauss_rule(count)
    assert np.all(np.diff(nodes) > 0)
    assert nodes.size == weights.size == count
    assert is_nearest(gauss_rule, count)


def test_a_last_bit_is_told() -> None:
    """As of what NumPy solves for: its weights for 8 nodes were up to 72 units off, where proofs had allowed 20."""
    nodes, weights = gauss_rule(8)
    assert not is_nearest(lambda _: (nodes, np.nextafter(weights, 2.0)), 8)
    assert not is_nearest(lambda _: (np.nextafter(nodes, 2.0), weights), 8)
