"""Compiled loops. The only modules that import llvmlite; `certdp.accounting.bulk.arrays` is their face."""
