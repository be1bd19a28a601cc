"""Compiled loops. The only modules that import numba; `certdp.accounting.bulk.arrays` is their face."""
