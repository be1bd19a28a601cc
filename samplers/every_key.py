"""No sampling of keys, q ≡ 1: the private histogram (PWS Section 4.1)."""

from __future__ import annotations

from typing import ClassVar, final

from attrs import frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.keyed.reporting import EveryKey as Rates
from ..accounting.relations import ELEMENT
from ..plugins.contract import CONTRACT_VERSION, About


@final
@known_keywords
@frozen(kw_only=True)
class EveryKey:
    """A sampler of keys that keeps every one."""

    about: ClassVar[About] = About(
        name="every-key",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="PWS Section 4.1, q ≡ 1",
        unit=ELEMENT,
    )

    @property
    def inclusion(self) -> Rates:
        """The inclusion probability of a key, q = 1."""
        return Rates()
