"""A mechanism on a sample: the ψ-PDP profile, the guarantee over a public domain, certificates and releases."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np
from attrs import evolve, frozen
from numpy.typing import ArrayLike

from ..accounting.derivation import Assumption
from ..accounting.errors import CertdpError, InvalidType, InvalidValue
from ..accounting.expressions import Expression, Symbol, variables
from ..accounting.expressions.floats import Floats
from ..accounting.expressions.suprema import Supremum
from ..accounting.feasible_weights.rates import ONE_RELEASE, ConstrainedRate
from ..accounting.guarantees import Guarantee
from ..accounting.norms import Norm
from ..accounting.notions import Pure
from ..accounting.private import InvalidData, Private
from ..accounting.provenance import Released
from ..accounting.relations import AddRemove, Record
from ..accounting.sampling.clipping import Outside
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.drawing import Rate, StatedRate
from ..accounting.sampling.every_value import ExPost, moves, released_within
from ..accounting.sampling.losses import Loss, PureLoss
from ..accounting.sampling.profiles import PureProfile, for_every_value, plus_payments, within
from ..accounting.sampling.rate import SamplingRate
from ..accounting.sampling.records import Features, Realisation, psi_upper
from ..plugins.contract import (
    AnySampler,
    Coins,
    KeySampler,
    LossSampler,
    Mechanism,
    Release,
    Sampler,
    Sanitiser,
    declared_for_every_value,
    open_parameters,
    payments,
    stated,
    stated_ends,
    with_values,
)
from ..plugins.registry import origin
from ..records.losses import Measurement
from ..records.losses import measured as measured_losses
from ..verification.certificates.writing import (
    OwnersData,
    PluginStatement,
    SampledPureClaim,
    commit,
    owners_certificate,
    public_certificate,
    statement_of_rate,
)
from ..verification.checker import check
from .prepared import matrix_within, prepared
from .run import refuse_chosen
from .worst_ends import worst_ends

_ROUNDING_ALLOWANCE = 2.0**-28


class NoPureValue(CertdpError, ValueError):
    """The mechanism has no pure profile; ψ needs a δ or an order."""


def declared_loss(mechanism: Mechanism) -> Loss:
    """What the mechanism declares that a record costs.

    Raises:
        InvalidType: where that is no loss.
    """
    loss = mechanism.loss
    if not isinstance(loss, Loss):
        raise InvalidType(
            "loss", loss, "a loss, such as PureLoss or GaussianLoss", f"Repair mechanism {mechanism.about.name}"
        )
    return loss


def loss_for_every_value(mechanism: Mechanism) -> Loss:
    """What the mechanism declares that a record costs, whatever its released parameters came out as.

    Raises:
        ExPost: where that is no expression in their ranges. Otherwise as `declared_loss`.
    """
    return declared_for_every_value("mechanism", mechanism, declared_loss)


def rate_for_every_value(sampler: AnySampler) -> SamplingRate:
    """The rate that the sampler states, whatever its released parameters came out as.

    Raises:
        ExPost: where that is no expression in their ranges. Otherwise as `declared_rate`.
    """
    rate, drawn = declared_for_every_value("sampler", sampler, declared_rate), declared_rate(sampler)
    if rate.rounding < drawn.rounding:  # what is drawn would round more than what is stated
        raise ExPost.about(", ".join(open_parameters("sampler", sampler)))
    return rate


def stating(sampler: AnySampler) -> Sampler:
    """The sampler itself, where it states its rate.

    Raises:
        InvalidValue: for a sampler that solves for its rate.
    """
    if isinstance(sampler, LossSampler):
        raise InvalidValue(
            "sampler",
            sampler.about.name,
            "a sampler that states its rate as an expression",
            "What is asked for is not there yet for a sampler that solves for its weights",
        )
    return sampler


def declared_rate(sampler: AnySampler) -> SamplingRate:
    """The rate that the sampler states.

    Raises:
        InvalidType: where that is no rate.
        InvalidValue: for a sampler that solves for its rate.
    """
    rate = stating(sampler).rate
    if not isinstance(rate, SamplingRate):
        raise InvalidType("rate", rate, "a SamplingRate", f"Repair sampler {sampler.about.name}")
    return rate


def drawing_of(mechanism: Mechanism, sampler: AnySampler) -> Rate:
    """How the sampler draws records for the mechanism.

    Raises:
        InvalidType: where either declares something else than a loss or a rate.
    """
    if isinstance(sampler, LossSampler):
        return sampler.rate_for(declared_loss(mechanism))
    return StatedRate(declared_rate(sampler))


@final
@frozen(kw_only=True)
class SampledMechanism:
    """A mechanism run on a Poisson importance sample of the data.

    Args:
        mechanism: what is released.
        sampler: which records enter, and with what weight.
        precision: working precision of proofs, in bits.

    Guarantees:
        `profile` is the ψ-PDP profile of IS Theorem 6 for adding or removing one record, for the probabilities really
        drawn and the weights really applied.

    Raises:
        NoPureValue: for a mechanism without a pure profile.
        InvalidValue: for heuristic evidence.
    """

    mechanism: Mechanism
    sampler: AnySampler
    precision: int = 128

    def __attrs_post_init__(self) -> None:
        for role, plugin, wanted in (
            ("mechanism", self.mechanism, ("loss",)),
            ("sampler", self.sampler, ("rate", "rate_for")),
        ):
            if not any(hasattr(type(plugin), name) for name in wanted) or not hasattr(type(plugin), "about"):
                raise InvalidType(role, plugin, f"a {role}: a class with `about` and `{wanted[0]}`")
        self._cover_add_remove()
        _ = self._drawn_by(self.loss, self.drawing)  # what cannot be composed is refused here

    @cached_property
    def profile(self) -> PureProfile[AddRemove, Record]:
        """ψ as a public function of a record, for every value of released parameters.

        Raises:
            ExPost: where it moves with a released value that has no range.
        """
        return self._stated(self.drawing)

    def profile_on(self, domain: NormBall | None) -> PureProfile[AddRemove, Record]:
        """ψ where records are held within a public domain; what its radius cost is not yet contained.

        Raises:
            ExPost: as `profile`.
            InvalidValue: where the sampler cannot draw some record of the domain as it declares.
        """
        drawing = self.drawing.on(domain)
        return self.profile if drawing is self.drawing else self._stated(drawing)

    def _stated(self, drawing: Rate) -> PureProfile[AddRemove, Record]:
        if not self._open:
            return self._drawn_by(self.loss, drawing)
        refuse_chosen("parameters", payments(self.mechanism, self.sampler))
        match drawing:
            case StatedRate():
                loss = loss_for_every_value(self.mechanism).pure
                assert loss is not None  # as at the values that came out
                found = self._drawn_by(loss, StatedRate(rate_for_every_value(self.sampler)))
            case ConstrainedRate() if not open_parameters("sampler", self.sampler):
                found = self._drawn_by(self.loss, drawing)  # the target, whatever is lost
            case _:
                raise ExPost.about(", ".join(self._open))
        return for_every_value(found, self._ranges_assumed)

    @property
    def _ranges_assumed(self) -> list[Assumption]:
        return [released_within(name, value) for name, value in self._open.items()]

    def _drawn_by(self, loss: PureLoss, drawing: Rate) -> PureProfile[AddRemove, Record]:
        premises = [
            self.mechanism.about.declaration("mechanism", stated(self.mechanism)),
            self.sampler.about.declaration("sampler", stated(self.sampler)),
        ]
        profile = drawing.profile(loss, premises)
        return plus_payments(profile, payments(self.mechanism, self.sampler))

    @property
    def _open(self) -> dict[str, Released[Any]]:
        """The released parameters for every value of which a guarantee has to hold, but for the domain's."""
        return open_parameters("mechanism", self.mechanism) | open_parameters("sampler", self.sampler)

    def require_losses_fixed(self, domain: NormBall | None) -> None:
        """Refuse losses per record that move with a released value.

        Raises:
            ExPost: for such a run, and records held within a ball whose radius was released.
        """
        moving = dict(self._open) if any(v.symbol is Symbol.PLACE for v in variables(self.profile.remove)) else {}
        if isinstance(self.drawing, StatedRate) and domain is not None:
            moving |= {name: value for name, value in domain.released.items() if moves(value)}
        if moving:
            raise ExPost.about(", ".join(moving))

    def _cover_add_remove(self) -> None:
        for role, plugin in (("mechanism", self.mechanism), ("sampler", self.sampler)):
            if AddRemove() not in plugin.about.relations or plugin.about.unit != Record():
                raise InvalidValue(
                    role, plugin.about.name, "a plugin whose unit is a record under add/remove", "Theorem 6 needs it"
                )

    @property
    def loss(self) -> PureLoss:
        """The mechanism's pure loss.

        Raises:
            NoPureValue: where it has none.
        """
        loss = declared_loss(self.mechanism)
        if loss.pure is None:
            raise NoPureValue(
                f"mechanism {self.mechanism.about.name} has no pure ε: its loss is a {type(loss).__name__}. State δ or "
                "a Rényi order"
            )
        return loss.pure

    @cached_property
    def drawing(self) -> Rate:
        """How records are drawn for this mechanism."""
        return drawing_of(self.mechanism, self.sampler)

    def losses(self, rate: Rate, realisation: Realisation, features: Features, *, threads: int = 1) -> Floats:
        """Certified ψ per record, for the probabilities drawn at this rate and the weights applied."""
        return np.minimum(psi_upper(self.loss, realisation, features, threads=threads), rate.ceiling)

    def spent(self, domain: NormBall | None) -> Fraction:
        """What released parameters cost, the domain's radius included: a part of ψ beside `losses`."""
        return self._paid(domain).released_cost

    @property
    def features(self) -> tuple[Expression, ...]:
        """The expressions whose norms ψ depends on."""
        return (self.loss.epsilon, *self.drawing.features)

    @property
    def norm(self) -> Norm:
        """The norm of the run's public domain: the mechanism's, else the sampler's, else ℓ1."""
        for root in self.features:
            orders = sorted(v.index for v in variables(root) if v.symbol is Symbol.NORM)
            if orders:
                return Norm(orders[0])
        return Norm.L1

    def guarantee(self, domain: NormBall) -> Guarantee[Pure, AddRemove, Record]:
        """The ε-DP guarantee for all records of a public domain: the certified supremum of ψ.

        Raises:
            NoFiniteSupremum: where ψ grows without bound on the domain.
        """
        return self.profile_on(domain).supremum(domain, precision=self.precision)[0]

    def claim(self, domain: NormBall | None) -> SampledPureClaim:
        """What a certificate states: the profile and, with a domain, its supremum.

        Where a released parameter has a range it is the profile at the end that costs most.

        Raises:
            ExPost: where the profile moves with a released value that has no range.
            InvalidValue: where neither end of a range costs most.
        """
        ends = worst_ends([self.profile_on(domain).remove], self._open)
        ends |= stated_ends("mechanism", self.mechanism) | stated_ends("sampler", self.sampler)
        return self._at(ends)._claim(None if domain is None else domain.at_its_largest)

    def _at(self, values: Mapping[str, Fraction]) -> SampledMechanism:
        """The run as if released parameters had come out as these values of their ranges."""
        if not values:
            return self
        return evolve(
            self,
            mechanism=with_values("mechanism", self.mechanism, values),
            sampler=with_values("sampler", self.sampler, values),
        )

    def _claim(self, domain: NormBall | None) -> SampledPureClaim:
        found: Supremum | None = None
        drawing = self.drawing.on(domain)
        free = for_every_value(self._drawn_by(self.loss, drawing), self._ranges_assumed)
        profile = free if domain is None else within(free, domain)
        assumptions: tuple[Assumption, ...] = profile.assumptions
        if domain is not None:
            guarantee, found = free.supremum(domain, precision=self.precision)
            assumptions = guarantee.assumptions
        if profile.released_cost:
            assumptions = (*assumptions, Assumption("released cost", str(profile.released_cost)))
        return SampledPureClaim(
            profile=profile,
            loss=self.loss,
            rate=statement_of_rate(drawing),
            released_cost=profile.released_cost,
            mechanism=statement_of(self.mechanism),
            sampler=statement_of(self.sampler),
            domain=domain,
            supremum=found,
            assumptions=assumptions,
            precision=self.precision,
        )

    def _paid(self, domain: NormBall | None) -> PureProfile[AddRemove, Record]:
        return self.profile if domain is None else within(self.profile_on(domain), domain)

    def certificate(self, domain: NormBall | None = None) -> bytes:
        """A publishable certificate: public constants alone.

        Raises:
            ExPost: as `claim`.
            InvalidValue: where the checker does not know the end of a released parameter's range to cost most.
        """
        content = public_certificate(self.claim(domain))
        if self._open and not (verdict := check(content)).accepted:
            raise InvalidValue(
                "certificate",
                ", ".join(self._open),
                "released parameters that the checker knows of",
                f"It says: {verdict.reason}. Leave the certificate out",
            )
        return content

    def measure(
        self,
        records: ArrayLike,
        domain: NormBall | None = None,
        outside: Outside = Outside.CLIP,
        *,
        threads: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> Private[Measurement]:
        """Certified ψ of every record of a data set, for its owner.

        Args:
            records: matrix (n, d) of finite numbers.
            domain: the public domain, or None where there is none.
            outside: what happens to records outside it.
            threads: threads for the bulk kernels; the result is the same for any number.
            progress: called with the number of records done.
        """
        self.require_losses_fixed(domain)
        rate = self.drawing.on(domain)

        def losses(realisation: Realisation, features: Features) -> Floats:
            return self.losses(rate, realisation, features, threads=threads)

        matrix = matrix_within(records, domain)
        spent = self.spent(domain)
        return measured_losses(matrix, domain, outside, rate, losses, spent=spent, progress=progress)

    def owners_certificate(
        self,
        records: ArrayLike,
        domain: NormBall | None = None,
        outside: Outside = Outside.CLIP,
        *,
        claim: SampledPureClaim | None = None,
        measured: Private[Measurement] | None = None,
    ) -> bytes:
        """A certificate for the data's owner, bound to the data by a salted commitment; not for publication.

        Args:
            records: matrix (n, d) of finite numbers.
            domain: the public domain, or None where there is none.
            outside: what happens to records outside it.
            claim: what `claim` gave for the same domain; computed where it is None.
            measured: what `measure` gave for the same arguments; computed where it is None.
        """
        matrix = matrix_within(records, domain)
        nonce = secrets.token_bytes(32)
        stated_claim = self.claim(domain) if claim is None else claim

        def bound(measurement: Measurement) -> OwnersData:
            if math.isinf(measurement.psi_max):
                raise InvalidData(
                    "records",
                    "a record with ψ beyond the range of binary64",
                    "records with a finite ψ",
                    "Declare a public domain, or use more noise",
                )
            return OwnersData(
                commitment=commit(matrix, nonce),
                nonce=nonce.hex(),
                records=matrix.shape[0],
                columns=matrix.shape[1],
                outside="none" if domain is None else outside.value,
                psi_max=min(_allowing_for_rounding(measurement.psi_max), stated_claim.ceiling),
                expected_sample_size=measurement.expected_sample_size,
            )

        figures = self.measure(matrix, domain, outside) if measured is None else measured
        return owners_certificate(stated_claim, figures.map(bound))

    def release(
        self,
        records: ArrayLike,
        domain: NormBall | None = None,
        outside: Outside = Outside.CLIP,
        *,
        coins: Coins | None = None,
    ) -> Release:
        """Draw a sample and release the mechanism on it.

        Args:
            records: matrix (n, d) of finite numbers.
            domain: the public domain whose guarantee the release is to have, or None for the profile alone.
            outside: what happens to records outside it.
            coins: the operating system's unless given; a release with seeded coins is not private.
        """
        realise = self.drawing.on(domain).realise
        (release,) = prepared(self.mechanism, realise, ONE_RELEASE, records, domain, outside, coins).draw()
        return release


def _allowing_for_rounding(psi_max: float) -> float:
    """A bound for every probability and weight within the sampler's rounding, which a checker can prove anew."""
    return float(np.nextafter(psi_max * (1 + _ROUNDING_ALLOWANCE), math.inf)) if psi_max else 0.0


def statement_of(plugin: Mechanism | AnySampler | Sanitiser | KeySampler) -> PluginStatement:
    """What certificates and reports say about a plugin.

    Raises:
        InvalidType: for anything else.
    """
    if not isinstance(plugin, Mechanism | Sampler | LossSampler | Sanitiser | KeySampler):
        raise InvalidType("plugin", plugin, "a mechanism or a sampler")
    distribution, _ = origin(plugin)
    return PluginStatement(
        name=plugin.about.name,
        version=plugin.about.version,
        distribution=distribution,
        evidence=plugin.about.evidence.value,
        citation=plugin.about.citation,
        options=stated(plugin),
    )
