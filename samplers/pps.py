"""Poisson sampling with probability proportional to size (PWS Section 3.1)."""

from __future__ import annotations

from typing import ClassVar, final

from attrs import frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.keyed.reporting import PoissonPps as Rates
from ..accounting.relations import ELEMENT
from ..plugins.contract import CONTRACT_VERSION, About
from .thresholds import ThresholdSampler


@final
@known_keywords
@frozen(kw_only=True)
class Pps(ThresholdSampler):
    """Keeps a key of frequency i with probability min(1, τ·f(i)): u is uniform on [0, 1]."""

    about: ClassVar[About] = About(
        name="pps",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="Ohlsson 1990; PWS Algorithm 1 and Equation 1",
        unit=ELEMENT,
    )
    scheme: ClassVar[type[Rates]] = Rates
