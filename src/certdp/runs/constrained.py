"""Runs whose weights are solved for a target: one or many releases, at a pure ε, at a δ or at a Rényi order."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from ..accounting.derivation import Assumption, Derivation, Theorem
from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.expressions import Expression, Symbol, variables
from ..accounting.expressions.floats import Floats
from ..accounting.feasible_weights.rates import ONE_RELEASE, ConstrainedRate
from ..accounting.guarantees import Guarantee
from ..accounting.norms import Norm
from ..accounting.notions import PURE, Bound
from ..accounting.provenance import Payment, named_costs
from ..accounting.relations import ADD_REMOVE, RECORD, AddRemove, Record
from ..accounting.sampling.clipping import Outside
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.drawing import Rate
from ..accounting.sampling.every_value import ExPost, released_within
from ..accounting.sampling.profiles import for_every_value, plus_payments, within
from ..accounting.sampling.records import Features, Realisation
from ..accounting.sampling.releases import Releases
from ..plugins.contract import AnySampler, Coins, Mechanism, Release, open_parameters, payments, stated
from ..verification.certificates.writing import SampledPureClaim, public_certificate, statement_of_rate
from .prepared import prepared
from .run import refuse_chosen
from .sampled import declared_loss, drawing_of, statement_of

_ON_DOMAIN = Theorem("law", "supremum over a public domain")


@final
@frozen(kw_only=True)
class ConstrainedReleases:
    """Releases of a mechanism on samples in which each record has the largest weight that a target allows.

    Args:
        mechanism: what is released.
        sampler: one whose weights are solved for a target of the whole run, such as PrivacyConstrained.
        releases: how many releases there are, on one sample or each on a fresh one; fixed before the data are seen.
        precision: working precision of proofs, in bits.

    Guarantees:
        No record loses more than the target, under adding or removing one, for the probabilities really drawn and the
        weights really applied; what released parameters cost comes on top. For releases on one sample the target bounds
        the amplified loss of all of them. For releases on fresh samples each has an equal share of a pure target (basic
        composition), and a Gaussian sum the composed law at its δ or order.

    Raises:
        InvalidValue: for a mechanism to which the target does not apply, and plugins that do not cover adding and
            removing a record.
        InvalidType: for a sampler that does not solve for a target.
    """

    mechanism: Mechanism
    sampler: AnySampler
    releases: Releases = ONE_RELEASE
    precision: int = 128

    def __attrs_post_init__(self) -> None:
        for role, plugin in (("mechanism", self.mechanism), ("sampler", self.sampler)):
            if ADD_REMOVE not in plugin.about.relations or plugin.about.unit != RECORD:
                raise InvalidValue(
                    role, plugin.about.name, "a plugin whose unit is a record under add/remove", "Problem 7 needs it"
                )
        _ = self.drawing

    @property
    def drawing(self) -> ConstrainedRate:
        """How records are drawn for this run."""
        return self._drawing

    @cached_property
    def _drawing(self) -> ConstrainedRate:
        match drawing_of(self.mechanism, self.sampler):
            case ConstrainedRate() as rate:
                return rate.over(self.releases)
        raise InvalidType("sampler", self.sampler, "a sampler that solves for a target, such as PrivacyConstrained")

    @property
    def features(self) -> tuple[Expression, ...]:
        """The expressions whose norms the weights depend on."""
        return (*declared_loss(self.mechanism).features, *self.drawing.features)

    @property
    def norm(self) -> Norm:
        """The norm of the run's public domain: the mechanism's, or ℓ1."""
        orders = sorted({v.index for root in self.features for v in variables(root) if v.symbol is Symbol.NORM})
        return Norm(orders[0]) if orders else Norm.L1

    def derivation(self, domain: NormBall | None) -> Derivation:
        """Why no record that is drawn, of the domain where there is one, loses more than the target and the cost."""
        premises = [
            self.mechanism.about.declaration("mechanism", stated(self.mechanism)),
            self.sampler.about.declaration("sampler", stated(self.sampler)),
        ]
        found = self.drawing.on(domain).derivation(premises)
        paid = [cost.derivation for cost in named_costs(self._payments(domain))]
        return self.bound(domain).notion.composition_theorem.conclude([found, *paid]) if paid else found

    def guarantee(self, domain: NormBall) -> Guarantee[Any, AddRemove, Record]:
        """The guarantee for all records of a public domain, in the notion of the target."""
        return Guarantee(
            bound=self.bound(domain),
            relation=ADD_REMOVE,
            unit=RECORD,
            derivation=_ON_DOMAIN.conclude([self.derivation(domain)], domain.assumptions),
        )

    def require_losses_fixed(self, domain: NormBall | None) -> None:
        """Nothing to refuse: where losses per record move with a released value, the target stands for them."""

    def losses(self, rate: Rate, realisation: Realisation, features: Features, *, threads: int = 1) -> Floats:
        """Certified losses of the run per record, for the probabilities drawn and the weights applied.

        They move with released parameters of the mechanism; then it is the target, which does not.
        """
        if open_parameters("mechanism", self.mechanism):
            return np.full(len(features), self.drawing.ceiling)
        return self.drawing.losses(realisation, features)

    def spent(self, domain: NormBall | None) -> Fraction:
        """What released parameters add to a loss of the run."""
        cost = self._cost(domain)
        return self.drawing.spent(cost).upper if cost.upper else Fraction(0)

    def claim(self, domain: NormBall | None) -> SampledPureClaim:
        """What a certificate states.

        Raises:
            InvalidValue: for a target at a δ or an order: there is no kind of certificate for it yet.
        """
        _ = self.bound(domain)  # what is no guarantee has no certificate
        rate = self.drawing.on(domain)
        statement = statement_of_rate(rate)
        loss = declared_loss(self.mechanism).pure
        assert loss is not None  # certificates have kinds for rates of pure losses alone
        premises = [
            self.mechanism.about.declaration("mechanism", stated(self.mechanism)),
            self.sampler.about.declaration("sampler", stated(self.sampler)),
        ]
        ranges = [released_within(name, value) for name, value in open_parameters("mechanism", self.mechanism).items()]
        free = for_every_value(rate.profile(loss, premises), ranges)
        profile = plus_payments(free, payments(self.mechanism, self.sampler))
        assumptions, found = profile.assumptions, None
        if domain is not None:
            guarantee, found = profile.supremum(domain, precision=self.precision)
            profile, assumptions = within(profile, domain), guarantee.assumptions
        if profile.released_cost:
            assumptions = (*assumptions, Assumption("released cost", str(profile.released_cost)))
        return SampledPureClaim(
            profile=profile,
            loss=loss,
            rate=statement,
            released_cost=profile.released_cost,
            mechanism=statement_of(self.mechanism),
            sampler=statement_of(self.sampler),
            domain=domain,
            supremum=found,
            assumptions=assumptions,
            precision=self.precision,
        )

    def certificate(self, domain: NormBall | None = None) -> bytes:
        """A publishable certificate: public constants alone. Raises as `claim`."""
        return public_certificate(self.claim(domain))

    def release(
        self,
        records: ArrayLike,
        domain: NormBall | None = None,
        outside: Outside = Outside.CLIP,
        *,
        coins: Coins | None = None,
    ) -> list[Release]:
        """Draw and release, as planned.

        Args:
            records: matrix (n, d) of finite numbers.
            domain: the public domain whose guarantee the releases are to have, or None for the target alone.
            outside: what happens to records outside it.
            coins: the operating system's unless given; releases with seeded coins are not private.

        Returns:
            One release per step.
        """
        realise = self.drawing.on(domain).realise
        return prepared(self.mechanism, realise, self.releases, records, domain, outside, coins).draw()

    def bound(self, domain: NormBall | None) -> Bound:
        """The target with what released parameters cost, in its notion.

        It does not move with parameters of the mechanism or the domain, whatever they came out as.

        Raises:
            ExPost: for a sampler with released parameters.
            InvalidValue: for a parameter that an adaptive run chose.
        """
        if moving := open_parameters("sampler", self.sampler):
            raise ExPost.about(", ".join(moving))
        refuse_chosen("parameters", self._payments(domain))
        loss = Enclosure.of(self.drawing.target, precision=self.precision)
        cost = self._cost(domain)
        return self.drawing.stated(loss + self.drawing.spent(cost) if cost.upper else loss)

    def _cost(self, domain: NormBall | None) -> Enclosure:
        total = Enclosure.of(0, precision=self.precision)
        for payment in self._payments(domain):
            cost = payment.cost
            if (cost.relation, cost.unit, cost.bound.notion) != (ADD_REMOVE, RECORD, PURE):
                raise InvalidValue(
                    "cost",
                    f"{cost.bound.notion} DP, {cost.relation!r}, {cost.unit!r}",
                    f"pure DP, {ADD_REMOVE!r}, {RECORD!r}",
                )
            total += cost.bound.epsilon
        return total

    def _payments(self, domain: NormBall | None) -> tuple[Payment, ...]:
        """What released parameters cost, each release once."""
        of_domain = () if domain is None else domain.payments
        return tuple(dict.fromkeys([*payments(self.mechanism, self.sampler), *of_domain]))
