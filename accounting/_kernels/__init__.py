"""Compiled loops. The only modules that import numba; `certdp.accounting.bulk` is their face."""
