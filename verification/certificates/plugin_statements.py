"""What certificates say about plugins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, final

from attrs import evolve, frozen

from ...plugins.contract import stated
from ...plugins.registry import origin_of_class

_ONCE_REAL_VALUED = frozenset(("laplace-sum", "count", "lp-sum", "gaussian-sum", "lloyd", "dpis-step"))
_REAL_VALUED = "1"
"""The last version of these mechanisms whose noise was added in binary64."""
_OWN = "certdp"


@cache
def _distribution(kind: type) -> str:
    """The distribution that a plugin class comes from: looked up once, as a plan may have thousands of parts."""
    return origin_of_class(kind)[0]


def is_own(kind: type) -> bool:
    """Whether a plugin class is certdp's own."""
    return _distribution(kind) == _OWN


@final
@frozen(kw_only=True)
class PluginStatement:
    """What a certificate says about a plugin."""

    name: str
    version: str
    distribution: str
    evidence: str
    citation: str
    options: Mapping[str, str]

    @classmethod
    def of(cls, plugin: Any) -> PluginStatement:
        """What is said of a mechanism or a sampler."""
        about = plugin.about
        return cls(
            name=about.name,
            version=about.version,
            distribution=_distribution(plugin.__class__),
            evidence=about.evidence.value,
            citation=about.citation,
            options=stated(plugin),
        )

    def with_real_valued_noise(self) -> PluginStatement:
        """What is said where noise is added in binary64, by whatever code: certdp's own mechanisms once did."""
        once = self.distribution == _OWN and self.name in _ONCE_REAL_VALUED
        return evolve(self, version=_REAL_VALUED) if once else self

    def as_json(self) -> dict[str, Any]:
        """Return the statement as the certificate holds it."""
        return {
            "name": self.name,
            "version": self.version,
            "distribution": self.distribution,
            "evidence": self.evidence,
            "citation": self.citation,
            "options": dict(self.options),
        }
