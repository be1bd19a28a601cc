"""Which keys and frequencies a weighted sample may report under (ε, δ)-DP: dyadic tables with exact proofs (PWS)."""

from .budget import DyadicBudget
from .inclusion import EveryKey, Inclusion, ListedRates, PoissonPps, Ppswor
from .keys import KeyRow, KeyTable
from .noise import Column, FrequencyNoise
from .rows import Excess, FrequencyRow, Run, excess, following, nothing_reported
from .tables import FrequencyTable, ProvenRow

__all__ = [
    "Column",
    "DyadicBudget",
    "EveryKey",
    "Excess",
    "FrequencyNoise",
    "FrequencyRow",
    "FrequencyTable",
    "Inclusion",
    "KeyRow",
    "KeyTable",
    "ListedRates",
    "PoissonPps",
    "Ppswor",
    "ProvenRow",
    "Run",
    "excess",
    "following",
    "nothing_reported",
]
