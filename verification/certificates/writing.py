"""Writing certificates: canonical JSON that ends in its own digest.

A certificate states a claim with everything that a checker needs to prove it again: the loss and the rate as
expressions, the public constants, the theorem and the enclosure. The checker (`verification.checker`) shares no
code with this module.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
from abc import ABC, abstractmethod
from collections.abc import Iterable
from fractions import Fraction
from functools import singledispatch
from importlib.metadata import version
from typing import Any, ClassVar, TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...accounting.derivation import SEEDED_COINS, Assumption, Theorem
from ...accounting.display import Displayed
from ...accounting.enclosures import Enclosure
from ...accounting.errors import InvalidType, InvalidValue
from ...accounting.exact import ratio_text
from ...accounting.expressions import serialise
from ...accounting.expressions.suprema import Supremum
from ...accounting.feasible_weights.plans import on_one_sample, samples
from ...accounting.feasible_weights.rates import (
    PROBLEM_7,
    GaussianConstrainedRate,
    LinearConstrainedRate,
    ProfileConstrainedRate,
)
from ...accounting.notions import Pure
from ...accounting.private import InvalidData
from ...accounting.provenance import Private
from ...accounting.relations import AddRemove, Record
from ...accounting.sampling.domains import NormBall
from ...accounting.sampling.drawing import Rate, StatedRate
from ...accounting.sampling.losses import PureLoss
from ...accounting.sampling.profiles import PureProfile
from ...accounting.sampling.rate import SamplingRate
from ...accounting.sampling.releases import Releases
from ...accounting.sampling.theorem_6 import THEOREM_6
from ..checker.declared import DISTRIBUTION
from ..checker.domain import Domain
from ..checker.options import PLUGINS, hold_domain
from ..checker.verdict import Refused
from .plugin_statements import PluginStatement

FORMAT = "certdp-certificate/1"

Json: TypeAlias = dict[str, Any]


class RateStatement(ABC):
    """What a certificate says about how records are drawn: it makes the kind of the certificate.

    Attributes:
        kind: the certificate's kind.
        theorem: the theorem that gives ψ.
        only_bound: whether the profile only bounds ψ, so that no record need reach it.
        compared: whether a checker can compare the figures of an owner's certificate with the data.
    """

    __slots__ = ()

    kind: ClassVar[str]
    theorem: ClassVar[Theorem]
    only_bound: ClassVar[bool]
    compared: bool

    @abstractmethod
    def inputs(self) -> Json:
        """What the profile follows from, beside the loss and the cost of released constants."""

    @abstractmethod
    def ceiling(self, released_cost: Fraction) -> float:
        """A bound of ψ plus that cost for every record that may be drawn; inf where none is stated."""


@final
@frozen
class StatedRateStatement(RateStatement):
    """The statement of a rate that is an expression: ψ follows by Theorem 6.

    Attributes:
        rate: the sampler's rate.
        compared: always.
    """

    kind: ClassVar[str] = "sampled-pure-profile"
    theorem: ClassVar[Theorem] = THEOREM_6
    only_bound: ClassVar[bool] = False

    rate: SamplingRate
    compared: bool = field(default=True, init=False)

    def inputs(self) -> Json:
        """Return probability, weighting and rounding as a certificate states them."""
        return {
            "rate": serialise(self.rate.probability),
            "weighted": self.rate.weighted,
            "rounding": ratio_text(self.rate.rounding),
        }

    def ceiling(self, released_cost: Fraction) -> float:
        """Give inf: ψ is what the profile says of each record."""
        return math.inf


@final
@frozen
class ConstrainedRateStatement(RateStatement):
    """The statement of weights that are solved for: ψ is within the target by the rule for drawing.

    Attributes:
        target: ε* of the whole run.
        largest: the cap on the weights, or None.
        releases: the plan of the run.
        compared: for one release of a loss proportional to the weight.
    """

    kind: ClassVar[str] = "constrained-pure-profile"
    theorem: ClassVar[Theorem] = PROBLEM_7
    only_bound: ClassVar[bool] = True

    target: Fraction
    largest: float | None
    releases: Releases
    compared: bool

    def inputs(self) -> Json:
        """Return target, cap and plan as a certificate states them."""
        return {
            "target": ratio_text(self.target),
            "largest_weight": None if self.largest is None else ratio_text(Fraction(self.largest)),
            "samples": samples(self.releases),
            "releases_on_a_sample": on_one_sample(self.releases),
        }

    def ceiling(self, released_cost: Fraction) -> float:
        """Return the target ε* plus the cost of released constants, rounded up."""
        return Enclosure.of(self.target + released_cost).upper_float


@singledispatch
def statement_of_rate(rate: Rate) -> RateStatement:
    """What a certificate says about a rate.

    Raises:
        InvalidType: for a rate that no kind of certificate knows.
    """
    raise InvalidType("rate", rate, "a rate that certificates have a kind for: stated, or constrained by a target")


@statement_of_rate.register
def _(rate: StatedRate) -> RateStatement:
    return StatedRateStatement(rate.stated)


@statement_of_rate.register
def _(rate: LinearConstrainedRate) -> RateStatement:
    return ConstrainedRateStatement(rate.target, rate.largest, rate.releases, compared=rate.releases.steps == 1)


@statement_of_rate.register
def _(rate: ProfileConstrainedRate) -> RateStatement:
    return ConstrainedRateStatement(rate.target, rate.largest, rate.releases, compared=False)


@statement_of_rate.register
def _(rate: GaussianConstrainedRate) -> RateStatement:
    raise InvalidValue(
        "certificate",
        "a target at a δ or a Rényi order",
        "a target for the pure ε",
        "No pure profile follows: certdp weights, and profile_certificate(run), certify such a target",
    )


@final
@frozen(kw_only=True, repr=False)
class SampledPureClaim(Displayed):
    """The claim of a certificate: what a mechanism on a sample loses about a record, in the pure notion.

    Attributes:
        profile: ψ in both directions.
        loss: the mechanism's loss.
        rate: how records are drawn; it decides the kind.
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
    rate: RateStatement
    released_cost: Fraction
    mechanism: PluginStatement
    sampler: PluginStatement
    domain: NormBall | None
    supremum: Supremum | None
    assumptions: tuple[Assumption, ...]
    precision: int

    def __str__(self) -> str:
        if self.supremum is None:
            return f"{self.profile}; no public domain"
        return f"ε ≤ {self.supremum.enclosure.upper_float!r} over {self.domain}; {self.profile}"

    @property
    def ceiling(self) -> float:
        """A bound of ψ for every record that may be drawn, whatever its norms; inf where none is stated."""
        return self.rate.ceiling(self.released_cost)

    def _supremum(self) -> Json | None:
        if self.domain is None or self.supremum is None:
            return None
        found = self.supremum
        maximiser = None if self.rate.only_bound else found.maximiser
        return {
            "domain": domain_as_json(self.domain),
            "lower": None if maximiser is None else max(0.0, found.enclosure.lower_float),
            "upper": found.enclosure.upper_float,
            "maximiser": (
                None
                if maximiser is None
                else {variable.name: ratio_text(value) for variable, value in maximiser.items()}
            ),
        }

    def as_json(self) -> Json:
        """The certificate's body without audience, data and digest."""
        return {
            "format": FORMAT,
            "kind": self.rate.kind,
            "theorem": str(self.rate.theorem),
            "claim": {
                "unit": self.profile.unit.name,
                "relation": self.profile.relation.name,
                "notion": Pure.notion.name,
                "profile": {"remove": serialise(self.profile.remove), "add": serialise(self.profile.add)},
                "supremum": self._supremum(),
            },
            "inputs": {
                "loss": serialise(self.loss.epsilon),
                "released_cost": ratio_text(self.released_cost),
                **self.rate.inputs(),
            },
            "mechanism": self.mechanism.as_json(),
            "sampler": self.sampler.as_json(),
            "assumptions": [{"name": a.name, "value": a.value} for a in self.assumptions],
            "precision": self.precision,
            "versions": versions(),
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
        """Return the statement as an owner's certificate holds it."""
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
    rows, columns = records.shape
    return commit_chunks((records[start : start + chunk] for start in range(0, rows, chunk)), (rows, columns), nonce)


def commit_chunks(chunks: Iterable[NDArray[np.float64]], shape: tuple[int, int], nonce: bytes) -> str:
    """What `commit` gives for a matrix of this shape that comes in chunks of its rows.

    Raises:
        InvalidData: for chunks that put together have another shape.
    """
    digest = hashlib.sha256(nonce)
    rows, columns = shape
    digest.update(f"{rows},{columns};".encode("ascii"))
    done = 0
    for chunk in chunks:
        digest.update(np.ascontiguousarray(chunk, dtype=">f8").tobytes())
        done += len(chunk)
        if chunk.shape[1] != columns:
            raise InvalidData("records", "another number of columns", "that of the shape stated")
    if done != rows:
        raise InvalidData("records", "another number of them", "that of the shape stated", "Read them anew")
    return digest.hexdigest()


def _hold_together(claim: SampledPureClaim) -> None:
    """Refuse options of certdp's plugins that the checker refuses beside the domain."""
    if claim.domain is None:
        return
    domain = Domain(claim.domain.norm.value, claim.domain.radius.value, claim.domain.dimension)
    for role, plugin in (("mechanism", claim.mechanism), ("sampler", claim.sampler)):
        if plugin.distribution != DISTRIBUTION or plugin.name not in PLUGINS[role]:
            continue
        try:
            hold_domain(role, plugin.name, plugin.options, domain)
        except Refused as refusal:
            raise InvalidValue(
                "certificate",
                f"{role} {plugin.name} on the domain {claim.domain}",
                "options that go with the domain",
                f"The checker says: {refusal}. Change the domain or the option",
            ) from None


def public_certificate(claim: SampledPureClaim) -> bytes:
    """A certificate for publication: public constants alone.

    Raises:
        InvalidValue: for a domain that contradicts an option, such as one of larger norms than an option `radius`.
    """
    _hold_together(claim)
    return sealed({**claim.as_json(), "audience": "public", "data": None})


def owners_certificate(claim: SampledPureClaim, data: Private[OwnersData]) -> bytes:
    """A certificate for the data's owner: the claim with private figures, bound to the data.

    Raises:
        InvalidValue: for a run whose figures no checker could compare with the data; and as `public_certificate`.
    """
    _hold_together(claim)
    if not claim.rate.compared:
        raise InvalidValue(
            "owner-certificate",
            "weights of a loss that is not proportional to the weight, or of several releases",
            "one release of a loss proportional to the weight",
            "No checker finds such weights again yet: write the public certificate alone",
        )
    return sealed({**claim.as_json(), "audience": "owner", "data": data.reveal().as_json()})


def versions() -> Json:
    """What a certificate was written with."""
    return {"certdp": version("certdp"), "mpmath": version("mpmath"), "python": platform.python_version()}


def domain_as_json(domain: NormBall) -> Json:
    """The public domain of a claim."""
    return {"norm": domain.norm.value, "radius": ratio_text(domain.radius.value), "dimension": domain.dimension}


def sealed(body: Json) -> bytes:
    """Canonical JSON of `body`, ending in its own digest.

    Raises:
        InvalidValue: for what rests on a release with seeded coins.
        ValueError: for NaN and infinities.
    """
    for assumption in body.get("assumptions", ()):
        if assumption["name"].rpartition(": ")[2] == SEEDED_COINS.name:
            raise InvalidValue(
                "certificate", assumption["name"], "releases with private coins", "Release it without a seed first"
            )
    text = json.dumps(body, sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False, separators=(",", ": "))
    digest = hashlib.sha256(text.encode("ascii")).hexdigest()
    return f'{text.removesuffix(chr(10) + "}")},\n "digest": "sha256:{digest}"\n}}\n'.encode("ascii")
