"""Which keys and frequencies a weighted sample may report under (ε, δ)-DP: dyadic tables with exact proofs (PWS)."""

from .blocks import RowBlock
from .budget import DyadicBudget
from .inclusion import DRAWN_BITS, Corner, EveryKey, Inclusion, ListedRates, PoissonPps, Ppswor
from .keys import KeyRow, KeyTable
from .noise import Column, FrequencyNoise
from .reporting import Divergences, Origin, Reporting
from .rows import Comparison, Excess, FrequencyRow, Outcome, Run, excess, following, hockey_sticks, nothing_reported
from .tables import FrequencyTable, ProvenRow, RowLaws, Rows

__all__ = [
    "DRAWN_BITS",
    "Column",
    "Comparison",
    "Corner",
    "Divergences",
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
    "Origin",
    "Outcome",
    "PoissonPps",
    "Ppswor",
    "ProvenRow",
    "Reporting",
    "RowBlock",
    "RowLaws",
    "Rows",
    "Run",
    "excess",
    "following",
    "hockey_sticks",
    "nothing_reported",
]
