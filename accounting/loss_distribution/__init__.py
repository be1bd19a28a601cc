"""Privacy loss distributions: proven δ(ε) of compositions, by contour integrals of moments and on a lattice."""
