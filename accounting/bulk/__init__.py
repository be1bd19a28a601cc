"""Bounds for many records at once: kernels whose rounding errors are bounded and added on the safe side."""
