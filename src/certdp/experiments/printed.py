"""What the papers print, for tables that show it beside what is made here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

_Row: TypeAlias = tuple[str, ...]

PWS_FIGURE_4 = (230.0, 97.0, 37.0)
"""PWS, caption of Figure 4: gains in percent for Zipf's law with α = 0.5, 1 and 2."""

DPIS_TABLE_3: Mapping[str, Mapping[str, _Row]] = MappingProxyType(
    {
        "mnist": {
            "DPIS": ("96.8", "97.7", "98.6", "98.8", "98.9"),
            "DP-SGD-HF": ("96.1", "97.2", "98.3", "98.4", "98.5"),
            "DP-SGD-TS": ("96.0", "96.8", "97.7", "98.1", "98.3"),
            "DP-SGD-Decay": ("96.2", "97.0", "97.8", "98.2", "98.3"),
            "DP-SGD": ("93.1", "94.9", "96.1", "96.8", "97.2"),
        },
        "fashion": {
            "DPIS": ("84.6", "86.6", "88.3", "88.8", "89.4"),
            "DP-SGD-HF": ("83.9", "86.0", "87.8", "88.3", "88.7"),
            "DP-SGD-TS": ("81.0", "83.0", "85.0", "86.3", "86.8"),
            "DP-SGD-Decay": ("80.8", "83.1", "85.1", "86.4", "86.8"),
            "DP-SGD": ("78.4", "80.8", "82.3", "84.1", "84.5"),
        },
        "imdb": {
            "DPIS": ("59.1", "62.1", "65.9", "68.3", "70.2"),
            "DP-SGD-TS": ("57.5", "60.3", "62.8", "65.2", "66.5"),
            "DP-SGD-Decay": ("56.8", "60.4", "63.6", "66.3", "67.6"),
            "DP-SGD": ("56.4", "60.3", "63.5", "66.4", "67.4"),
        },
    }
)
"""DPIS Table 3: test accuracy in percent at ε = 0.5, 1, 2, 3 and 4."""

DPIS_TABLE_4: Mapping[str, _Row] = MappingProxyType(
    {
        "mnist": ("96.7, 96.8", "97.6, 97.7", "98.5, 98.6", "98.7, 98.8"),
        "fashion": ("84.6, 84.6", "86.5, 86.6", "88.2, 88.3", "88.7, 88.8"),
        "imdb": ("59.1, 58.2", "62.2, 61.7", "65.9, 65.0", "68.3, 67.6"),
    }
)
"""DPIS Table 4: test accuracy in percent at ε = 0.5, 1, 2 and 3, where C adapts and where it does not."""

DPIS_VARIED: Mapping[str, Mapping[str, _Row]] = MappingProxyType(
    {
        "5": {
            "mnist": ("97.6", "97.6", "97.7", "97.6"),
            "fashion": ("86.6", "86.5", "86.7", "86.8"),
            "imdb": ("62.1", "61.8", "62.1", "62.1"),
        },
        "6": {
            "mnist": ("97.7", "97.7", "97.7", "97.7"),
            "fashion": ("86.7", "86.7", "86.8", "86.8"),
            "imdb": ("62.1", "62.2", "62.3", "62.3"),
        },
        "7": {
            "mnist": ("97.5", "97.6", "97.4", "97.3"),
            "fashion": ("86.4", "86.5", "86.4", "86.4"),
            "imdb": ("62.0", "62.2", "62.1", "62.0"),
        },
        "8": {
            "mnist": ("97.3", "97.4", "97.6"),
            "fashion": ("86.3", "86.4", "86.5"),
            "imdb": ("61.1", "61.7", "62.2"),
        },
    }
)
"""DPIS Tables 5 to 8: test accuracy in percent for the values of each; Table 8 has λ* ± 0.2, λ* ± 0.1 and λ* alone."""
