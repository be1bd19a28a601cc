"""Poisson sampling with probabilities that grow with a power of the norm: a sampler for certdp."""

from .sampler import PowerAllocation

__all__ = ["PowerAllocation"]
