"""`certdp psi` in the pure notion: a certified ψ-profile, its supremum over the public domain, and certificates."""

from __future__ import annotations

import math
from collections.abc import Mapping

from attrs import frozen

from ...accounting.errors import InvalidValue
from ...accounting.expressions import ZERO, Symbol, prune, simplify, substitute, variables
from ...accounting.expressions.suprema import NoFiniteSupremum
from ...accounting.provenance import Private
from ...accounting.relations import ADD_REMOVE
from ...accounting.sampling.domains import NormBall
from ...durable.files import Rank, published
from ...records.certificates import owner_certificate
from ...records.losses import RecordLosses
from ...runs.certificates import pure_claim
from ...runs.declared import declared_loss
from ...runs.sampled import SampledRun
from ...verification.certificates.writing import SampledPureClaim, public_certificate
from ..answer import Answer, path_as_json
from ..composition import Composition
from ..output import Terminal
from ..outputs import checked_certificate
from ..page import Page, whom
from ..waiting import waiting
from .request import OwnersFigures, Request, Subject


@frozen(kw_only=True)
class PureProfile(Answer):
    """ψ in the pure notion, and its supremum where a public domain is declared.

    Attributes:
        claim: what is proven, and certified.
        owners: what the data's owner may know; None without records.
        request: where something was written.
    """

    claim: SampledPureClaim
    owners: OwnersFigures | None
    request: Request

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        stated, request = self.claim.as_json(), self.request
        claim, supremum = stated["claim"], stated["claim"]["supremum"]
        return {
            "mechanism": stated["mechanism"],
            "sampler": stated["sampler"],
            "epsilon": None if supremum is None else [supremum["lower"], supremum["upper"]],
            "guarantee": {
                "kind": "psi-PDP profile" if supremum is None else "differential privacy on the public domain",
                "notion": claim["notion"],
                "unit": claim["unit"],
                "relation": claim["relation"],
                "theorem": stated["theorem"],
                "psi": self._psi,
                "domain": None if supremum is None else supremum["domain"],
                "maximiser": None if supremum is None else supremum["maximiser"],
            },
            "assumptions": stated["assumptions"],
            "certificate": path_as_json(request.certificate),
            "owner_certificate": path_as_json(request.owner_certificate),
            "plot": path_as_json(request.plot),
            "owner_plot": path_as_json(request.owner_plot),
            "private": None if self.owners is None else self.owners.as_json(),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        claim, request = self.claim, self.request
        page.run(claim.mechanism.name, claim.sampler.name)
        if claim.supremum is None:
            page.print("ε      none: no public domain was declared (--option radius=R)", 2)
        else:
            found = claim.supremum.enclosure
            page.bold(f"ε ≤ {page.numbers.most(found.upper_float)}", f" for {whom(claim.domain)}")
            if not claim.rate.only_bound:
                ends = page.numbers.between(max(0.0, found.lower_float), found.upper_float)
                page.print(f"the supremum of ψ lies in {ends}", 2)
        profile = claim.profile
        page.print(f"pure DP, unit {profile.unit.name}, relation {profile.relation.name}, by {claim.rate.theorem}", 2)
        if claim.rate.only_bound:
            page.print(f"ψ(x) ≤ {page.numbers.words(self._psi)} for every record that may be drawn", 2)
        else:
            page.print(f"ψ(x) = {page.numbers.words(self._psi)}, and a relative rounding of q and W", 2)
        page.files({"certificate": request.certificate, "plot": request.plot})
        page.assumptions(claim.assumptions)
        if self.owners is not None:
            self.owners.show(page, ("owner certificate", request.owner_certificate), ("owner plot", request.owner_plot))

    @property
    def _psi(self) -> str:
        """The profile as people read it: without rounding, and simplified."""
        profile = self.claim.profile.remove
        exact = substitute(profile, {v: ZERO for v in variables(profile) if v.symbol is Symbol.ROUNDING})
        return str(simplify(prune(simplify(exact), {})))


def pure_profile(request: Request, given: Composition, terminal: Terminal) -> PureProfile:
    """Compose, prove, measure and write, in the pure notion."""
    if declared_loss(given.mechanism).pure is None:
        name = given.mechanism.about.name
        raise InvalidValue(
            "mechanism",
            name,
            "a mechanism with a pure ε, or a δ or an order",
            f"{name} has no pure ε: state --delta D or --order A",
        )
    if ADD_REMOVE not in given.mechanism.about.relations:
        name = given.mechanism.about.name
        admissible = "a mechanism about a record that is added or removed, or a δ or an order"
        raise InvalidValue("mechanism", name, admissible, f"{name} is about one that is replaced: state --delta 0")
    with request.subject(given) as subject:
        with waiting(terminal):
            run_of, claim = _claimed(subject.run, subject.domain, given.run.get("radius", ""))
        losses = subject.losses(run_of, terminal)
        _write(request, run_of, claim, subject, losses)
    supremum = math.inf if claim.supremum is None else claim.supremum.enclosure.upper_float
    return PureProfile(claim=claim, owners=OwnersFigures.of(request, losses, supremum, "ψ"), request=request)


def _claimed(anywhere: SampledRun, domain: NormBall | None, radius: str) -> tuple[SampledRun, SampledPureClaim]:
    """The run on its domain, and what its certificate states."""
    try:
        run_of = anywhere.on(domain)
        claim = pure_claim(run_of)
    except NoFiniteSupremum as error:
        raise InvalidValue("radius", radius, "a domain on which ψ is bounded", str(error)) from None
    if claim.supremum is not None and math.isinf(claim.supremum.enclosure.upper_float):
        raise InvalidValue("radius", radius, "a domain whose ε binary64 holds", "Use a smaller radius or more noise")
    return run_of, claim


def _write(
    request: Request, run: SampledRun, claim: SampledPureClaim, subject: Subject, losses: Private[RecordLosses] | None
) -> None:
    with published() as files:
        if request.certificate is not None:
            certificate = checked_certificate("certificate", public_certificate(claim))
            files.write(request.certificate, certificate, Rank.STATEMENT)
        if request.owner_certificate is not None and subject.records is not None:
            owned = owner_certificate(run, subject.records, subject.outside, claim=claim, losses=losses)
            files.write(
                request.owner_certificate, checked_certificate("owner-certificate", owned), Rank.RECORD, secret=True
            )
        if request.plot is not None:
            from ...plots.runs import plot_profile

            files.write(request.plot, plot_profile(claim), Rank.STATEMENT)
        if request.owner_plot is not None and losses is not None:
            from ...plots.runs import plot_measured

            files.write(request.owner_plot, plot_measured(claim, losses).reveal(), Rank.RECORD, secret=True)
