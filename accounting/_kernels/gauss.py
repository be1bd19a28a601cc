"""Gauss's rules on [-1, 1]: each node and weight is the binary64 number nearest to its own.

Proofs allow a node and a weight the rounding to binary64. NumPy's weights are up to 72u off.
"""

from __future__ import annotations

import numpy as np

from .compile import Floats

_RIGHT = {
    4: (
        (0.33998104358485626, 0.8611363115940526),
        (0.6521451548625461, 0.34785484513745385),
    ),
    8: (
        (0.1834346424956498, 0.525532409916329, 0.7966664774136267, 0.9602898564975363),
        (0.362683783378362, 0.31370664587788727, 0.22238103445337448, 0.10122853629037626),
    ),
    16: (
        (
            0.09501250983763744,
            0.2816035507792589,
            0.45801677765722737,
            0.6178762444026438,
            0.755404408355003,
            0.8656312023878318,
            0.9445750230732326,
            0.9894009349916499,
        ),
        (
            0.1894506104550685,
            0.18260341504492358,
            0.16915651939500254,
            0.14959598881657674,
            0.12462897125553388,
            0.09515851168249279,
            0.062253523938647894,
            0.027152459411754096,
        ),
    ),
}
"""Nodes above 0 and their weights, by the number of nodes."""


def gauss_rule(nodes: int) -> tuple[Floats, Floats]:
    """The nodes from left to right, and their weights: of 4, 8 or 16 nodes."""
    right, weights = (np.array(half) for half in _RIGHT[nodes])
    return np.concatenate([-right[::-1], right]), np.concatenate([weights[::-1], weights])
