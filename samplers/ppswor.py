"""Probability proportional to size without replacement, by a threshold (PWS Section 3.1)."""

from __future__ import annotations

from typing import ClassVar, final

from attrs import frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.keyed.reporting import Ppswor as Rates
from ..accounting.relations import ELEMENT
from ..plugins.contract import CONTRACT_VERSION, About
from .thresholds import ThresholdSampler


@final
@known_keywords
@frozen(kw_only=True)
class Ppswor(ThresholdSampler):
    """Keeps a key of frequency i with probability 1 − e^{−τ·f(i)}: u is exponential."""

    about: ClassVar[About] = About(
        name="ppswor",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="Rosén 1972; PWS Algorithm 1 and Equation 1",
        unit=ELEMENT,
    )
    scheme: ClassVar[type[Rates]] = Rates
