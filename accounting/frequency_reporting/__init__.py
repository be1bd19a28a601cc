"""Which keys and frequencies a weighted sample may report under (ε, δ)-DP: dyadic tables with exact proofs (PWS)."""

from .budget import DyadicBudget
from .inclusion import DRAWN_BITS, EveryKey, Inclusion, ListedRates, PoissonPps, Ppswor
from .keys import KeyRow, KeyTable
from .noise import Column, FrequencyNoise
from .reporting import Reporting
from .rows import Excess, FrequencyRow, Run, excess, following, nothing_reported
from .tables import FrequencyTable, ProvenRow

__all__ = [
    "DRAWN_BITS",
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
    "Reporting",
    "Run",
    "excess",
    "following",
    "nothing_reported",
]
