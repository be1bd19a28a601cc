"""No sampling: every record enters with weight 1."""

from __future__ import annotations

from typing import ClassVar, final

from attrs import frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT
from ..accounting.sampling.rate import ALWAYS, SamplingRate
from ..plugins.contract import CONTRACT_VERSION, About


@final
@known_keywords
@frozen(kw_only=True)
class Full:
    """Every record is drawn, with weight 1: the mechanism's own loss, under any neighbouring relation."""

    about: ClassVar[About] = About(
        name="full",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="IS, Theorem 6, q = 1",
        relations=(ADD_REMOVE, REPLACE, ZERO_OUT),
    )

    @property
    def rate(self) -> SamplingRate:
        """The sampling rate q = 1, unweighted."""
        return ALWAYS
