"""The data set of the paper's example."""

from __future__ import annotations

import numpy as np

from ..accounting.exact import Floats


def example_records() -> Floats:
    """The data of IS Section 3.3: n = 1000 draws from N(0, I/10) in 10 dimensions, from a fixed seed."""
    generator = np.random.Generator(np.random.Philox(20260101))
    return np.asarray(generator.standard_normal((1000, 10)) / np.sqrt(10.0))
