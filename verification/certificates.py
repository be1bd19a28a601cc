"""Writing certificates: canonical JSON that ends in its own digest.

A certificate states a claim with everything that a checker needs to prove it again: the loss and the rate as
expressions, the public constants, the theorem and the enclosure. The checker (`verification.checker`) shares no
code with this module.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from fractions import Fraction
from importlib.metadata import version
from typing import Any, TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..accounting.derivation import Assumption
from ..accounting.domains import NormBall
from ..accounting.exact import ratio_text
from ..accounting.expressions import serialise
from ..accounting.losses import PureLoss
from ..accounting.notions import Pure
from ..accounting.profiles import PureProfile
from ..accounting.provenance import Private
from ..accounting.relations import AddRemove, Record
from ..accounting.sampling import SamplingRate
from ..accounting.suprema import Supremum

FORMAT = "certdp-certificate/1"
KIND = "sampled-pure-profile"

Json: TypeAlias = dict[str, Any]


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

    def as_json(self) -> Json:
        """As the certificate has it."""
        return {
            "name": self.name,
            "version": self.version,
            "distribution": self.distribution,
            "evidence": self.evidence,
            "citation": self.citation,
            "options": dict(self.options),
        }


@final
@frozen(kw_only=True)
class SampledPureClaim:
    """The claim of a `sampled-pure-profile` certificate.

    Attributes:
        profile: ψ in both directions.
        loss: the mechanism's loss.
        rate: the sampler's rate.
        released_cost: pure ε spent on releasing the constants used.
        mechanism: the mechanism's statement.
        sampler: the sampler's statement.
        domain: the public domain, or None.
        supremum: the supremum over it, or None.
        assumptions: everything that the claim rests on.
        precision: working precision in bits.
    """

    profile: PureProfile[AddRemove, Record]
    loss: PureLoss
    rate: SamplingRate
    released_cost: Fraction
    mechanism: PluginStatement
    sampler: PluginStatement
    domain: NormBall | None
    supremum: Supremum | None
    assumptions: tuple[Assumption, ...]
    precision: int

    def _supremum(self) -> Json | None:
        if self.domain is None or self.supremum is None:
            return None
        found = self.supremum
        reached = found.maximiser is not None
        return {
            "domain": {
                "norm": self.domain.norm.value,
                "radius": ratio_text(self.domain.radius.value),
                "dimension": self.domain.dimension,
            },
            "lower": max(0.0, found.enclosure.lower_float) if reached else None,
            "upper": found.enclosure.upper_float,
            "maximiser": (
                None
                if found.maximiser is None
                else {variable.name: ratio_text(value) for variable, value in found.maximiser.items()}
            ),
        }

    def as_json(self) -> Json:
        """The certificate's body without audience, data and digest."""
        return {
            "format": FORMAT,
            "kind": KIND,
            "theorem": "IS Theorem 6",
            "claim": {
                "unit": self.profile.unit.name,
                "relation": self.profile.relation.name,
                "notion": Pure.notion.name,
                "profile": {"remove": serialise(self.profile.remove), "add": serialise(self.profile.add)},
                "supremum": self._supremum(),
            },
            "inputs": {
                "loss": serialise(self.loss.epsilon),
                "rate": serialise(self.rate.probability),
                "weighted": self.rate.weighted,
                "rounding": ratio_text(self.rate.rounding),
                "released_cost": ratio_text(self.released_cost),
            },
            "mechanism": self.mechanism.as_json(),
            "sampler": self.sampler.as_json(),
            "assumptions": [{"name": a.name, "value": a.value} for a in self.assumptions],
            "precision": self.precision,
            "versions": {
                "certdp": version("certdp"),
                "mpmath": version("mpmath"),
                "python": platform.python_version(),
            },
        }


@final
@frozen(kw_only=True)
class OwnersData:
    """What an owner's certificate says about the data: private, never published.

    Attributes:
        commitment: salted SHA-256 of the matrix, hexadecimal.
        nonce: the secret salt, 32 bytes, hexadecimal.
        records: number of records.
        columns: number of columns.
        outside: what happens to records outside the domain: "clip", "drop" or "none".
        psi_max: largest certified ψ over the file.
        expected_sample_size: lower and upper end.
    """

    commitment: str
    nonce: str
    records: int
    columns: int
    outside: str
    psi_max: float
    expected_sample_size: tuple[float, float]

    def as_json(self) -> Json:
        """As the certificate has it."""
        return {
            "commitment": self.commitment,
            "nonce": self.nonce,
            "records": self.records,
            "columns": self.columns,
            "outside": self.outside,
            "psi_max": self.psi_max,
            "expected_sample_size": list(self.expected_sample_size),
        }


def commit(records: NDArray[np.float64], nonce: bytes, *, chunk: int = 65536) -> str:
    """Salted commitment to a matrix: SHA-256 of nonce, shape and entries as big-endian doubles, row by row."""
    digest = hashlib.sha256(nonce)
    rows, columns = records.shape
    digest.update(f"{rows},{columns};".encode("ascii"))
    for start in range(0, rows, chunk):
        digest.update(np.ascontiguousarray(records[start : start + chunk], dtype=">f8").tobytes())
    return digest.hexdigest()


def public_certificate(claim: SampledPureClaim) -> bytes:
    """A certificate for publication: public constants alone."""
    return sealed({**claim.as_json(), "audience": "public", "data": None})


def owners_certificate(claim: SampledPureClaim, data: Private[OwnersData]) -> bytes:
    """A certificate for the data's owner: the claim with private figures, bound to the data."""
    return sealed({**claim.as_json(), "audience": "owner", "data": data.reveal().as_json()})


def sealed(body: Json) -> bytes:
    """Canonical JSON of `body`, ending in its own digest.

    Raises:
        ValueError: for NaN and infinities.
    """
    text = json.dumps(body, sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False, separators=(",", ": "))
    digest = hashlib.sha256(text.encode("ascii")).hexdigest()
    return f'{text.removesuffix(chr(10) + "}")},\n "digest": "sha256:{digest}"\n}}\n'.encode("ascii")
