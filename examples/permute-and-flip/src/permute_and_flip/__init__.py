"""Which column has the most votes, told by permute-and-flip: a mechanism for certdp."""

from .mechanism import PermuteAndFlip

__all__ = ["PermuteAndFlip"]
