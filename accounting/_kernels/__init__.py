"""Compiled loops. Of all modules `machine` alone imports numba; `certdp.accounting.bulk` is their face."""
