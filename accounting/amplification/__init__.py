"""Privacy amplification by Poisson sampling, for one record: one theorem per notion, both directions apart."""

from .approximate import delta_after_sampling
from .psi import proposition_3, psi, psi_add
from .renyi import renyi_after_sampling

__all__ = ["delta_after_sampling", "proposition_3", "psi", "psi_add", "renyi_after_sampling"]
