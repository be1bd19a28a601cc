"""Repeat and select: a run is done a random number of times, and the best output alone is told."""

from .repetitions import (
    FixedRepetitions,
    NegativeBinomialRepetitions,
    PoissonRepetitions,
    RandomRepetitions,
    Repetitions,
)
from .selected import Selected, selected

LAWS: dict[str, type[Repetitions]] = {
    law.name: law for law in (NegativeBinomialRepetitions, PoissonRepetitions, FixedRepetitions)
}
"""The laws of repetitions by their names."""

__all__ = [
    "LAWS",
    "FixedRepetitions",
    "NegativeBinomialRepetitions",
    "PoissonRepetitions",
    "RandomRepetitions",
    "Repetitions",
    "Selected",
    "selected",
]
