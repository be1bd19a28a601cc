"""`certdp psi --delta D` and `--order A`: ε at a δ, or τ at a Rényi order, over the public domain and per record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from ...accounting.accountants import Bounds, renyi_at
from ...accounting.enclosures import Enclosure
from ...accounting.errors import InvalidValue
from ...accounting.guarantees import Guarantee
from ...accounting.units import Delta, Order
from ...durable.files import published
from ...runs.as_declared import lower_ends_of
from ...runs.declared import statement_of
from ...runs.run import Answer as RunAnswer
from ...runs.run import Interval
from ...runs.sampled import SampledRun
from ..answer import Answer, assumptions_as_json, domain_as_json, path_as_json
from ..composition import Composition
from ..output import Terminal
from ..page import Page, whom
from ..run_certificates import Certificate, show_certified, write_certificate
from ..waiting import waiting
from .request import OwnersFigures, Request


@frozen(kw_only=True)
class _Proven:
    """The loss proven for the domain.

    Attributes:
        guarantee: the statement.
        figures: its numbers as JSON has them: the target and the bounds, by name.
        bounds: of the loss.
        answer: the run's, where there is one as (ε, δ): of it there is a certificate, else of the guarantee.
    """

    guarantee: Guarantee[Any, Any, Any]
    figures: Mapping[str, Any]
    bounds: Interval
    answer: RunAnswer[Any] | None = None


@frozen(kw_only=True)
class _Target:
    """The notion in which a loss is asked for.

    Attributes:
        sign: what the loss is called.
        stated: the target in words.
        prove: the guarantee of a run.
        at: where the loss per record is read.
    """

    sign: str
    stated: str
    prove: Callable[[SampledRun], _Proven]
    at: Delta | Order


@frozen(kw_only=True)
class LossAt(Answer):
    """The loss at a δ or an order.

    Attributes:
        releases: the run.
        target: what was asked for.
        found: what is proven for the domain.
        owners: what the data's owner may know; None without records.
        place: where the certificate lies, or None.
        certified: what it proves; None without one.
    """

    releases: SampledRun
    target: _Target
    found: _Proven
    owners: OwnersFigures | None
    place: Path | None
    certified: Certificate | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types; the keys that only the pure notion has are null."""
        guarantee, domain = self.found.guarantee, self.releases.domain
        return {
            "mechanism": statement_of(self.releases.mechanism).as_json(),
            "sampler": statement_of(self.releases.sampler).as_json(),
            "notion": guarantee.bound.notion.name,
            **self.found.figures,
            "lower_end": self._lower_end,
            "guarantee": {
                "kind": "differential privacy" + ("" if domain is None else " on the public domain"),
                "notion": guarantee.bound.notion.name,
                "unit": guarantee.unit.name,
                "relation": guarantee.relation.name,
                "theorem": str(guarantee.derivation),
                "psi": None,
                "domain": domain_as_json(domain),
                "maximiser": None,
            },
            "assumptions": assumptions_as_json(guarantee.assumptions),
            "certificate": path_as_json(self.place),
            "certified": None if self.certified is None else self.certified.as_json(),
            "owner_certificate": None,
            "plot": None,
            "owner_plot": None,
            "private": None if self.owners is None else self.owners.as_json(),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        guarantee, bounds, sign = self.found.guarantee, self.found.bounds, self.target.sign
        page.run(self.releases.mechanism.about.name, self.releases.sampler.about.name)
        page.bold(
            f"{sign} ≤ {page.numbers.most(bounds.upper)}", f" at {self.target.stated} for {whom(self.releases.domain)}"
        )
        if bounds.lower is None:
            page.print(f"{sign}: an upper bound; no lower bound is proven", 2)
        else:
            page.print(f"the supremum of {sign} lies in {page.numbers.between(bounds.lower, bounds.upper)}", 2)
            page.lower_end(self._lower_end)
        page.print(f"{guarantee.bound.notion} DP, unit {guarantee.unit.name}, relation {guarantee.relation.name}", 2)
        page.print(str(guarantee.derivation), 2)
        page.files({"certificate": self.place})
        if self.found.answer is not None:
            show_certified(page, self.certified, self.found.answer)
        elif self.certified is not None:
            self.certified.show(page)
        page.assumptions(guarantee.assumptions)
        if self.owners is not None:
            self.owners.show(page)

    @property
    def _lower_end(self) -> str | None:
        """What the lower end is about, where that is not what is released."""
        return None if self.found.bounds.lower is None else lower_ends_of(self.releases)


def loss_at(request: Request, given: Composition, terminal: Terminal) -> LossAt:
    """Compose, prove and measure at the target that was asked for."""
    target = _target(request)
    _refuse_files(request)
    with request.subject(given) as subject:
        releases = subject.run.on(subject.domain)
        with waiting(terminal):
            found = target.prove(releases)
        losses = subject.losses(releases, terminal, target.at)
    owners = OwnersFigures.of(request, losses, found.bounds.upper, target.sign)
    with published() as files, waiting(terminal):
        answer = found.guarantee if found.answer is None else found.answer
        certified = write_certificate(files, request.certificate, releases, answer)
    return LossAt(
        releases=releases, target=target, found=found, owners=owners, place=request.certificate, certified=certified
    )


def _target(request: Request) -> _Target:
    match request.delta, request.order:
        case str(delta), None:
            return _at_delta(Delta(delta))
        case None, str(order):
            return _at_order(Order(order))
    raise InvalidValue("order", request.order, "nothing, beside a δ", "State --delta or --order, not both")


def _at_delta(delta: Delta) -> _Target:
    def prove(releases: SampledRun) -> _Proven:
        answer = releases.epsilon(delta)
        return _Proven(
            guarantee=answer.guarantee,
            figures={"delta": answer.delta.upper, "epsilon": [answer.epsilon.lower, answer.epsilon.upper]},
            bounds=answer.epsilon,
            answer=answer,
        )

    return _Target(sign="ε", stated=f"δ = {delta}", prove=prove, at=delta)


def _at_order(order: Order) -> _Target:
    def prove(releases: SampledRun) -> _Proven:
        guarantee = releases.renyi(order)
        reached = releases.pairs.worst(renyi_at(order.value))
        # what released parameters cost is an upper bound alone
        two_sided = reached is not None and reached.two_sided and not releases.released_cost.upper
        bounds = Interval.of(Bounds(guarantee.bound.tau, two_sided))
        return _Proven(
            guarantee=guarantee,
            figures={
                "order": Enclosure.of(order.value).lower_float,
                "tau": [bounds.lower, bounds.upper],
                "epsilon": None,
            },
            bounds=bounds,
        )

    return _Target(sign="τ", stated=f"order {order}", prove=prove, at=order)


def _refuse_files(request: Request) -> None:
    for name, path in request.places.items():
        if path is None or name == "certificate":
            continue
        where = "a δ" if request.delta is not None else "an order"
        remedy = "Only pure profiles have owners' certificates and plots: leave the option out, or --delta and --order"
        raise InvalidValue(name, str(path), f"nothing, at {where}", remedy)
