"""`certdp weights`: the weight and the probability of every record of a file, written for the data's owner."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypedDict

import typer
from attrs import evolve, frozen

from ..accounting.derivation import Derivation
from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidType, InvalidValue, blamed_on
from ..accounting.expressions.suprema import NoFiniteSupremum
from ..accounting.feasible_weights import Reach
from ..accounting.feasible_weights.rates import ConstrainedRate
from ..accounting.notions import APPROXIMATE, PURE, RENYI, Approximate, Bound, Pure, Renyi
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.releases import Releases
from ..data import open_records
from ..durable.files import Rank, published
from ..plugins.contract import options
from ..plugins.registry import Registry, Role
from ..records.by_file import weights_by_file
from ..records.chunks import Progress
from ..records.in_order import cores
from ..records.weights import RecordWeights, put_weights, record_weights, require_weights_path
from ..runs.certificates import profile_certificate
from ..runs.declared import declared_loss, statement_of
from ..runs.sampled import SampledRun
from .answer import Answer, assumptions_as_json, domain_as_json, path_as_json
from .answering import application
from .composition import Composition, composed
from .digits import Numbers
from .domain import domain_of
from .options import (
    Certificate,
    DataSet,
    Mechanism,
    Options,
    Output,
    Outside,
    Resample,
    Sampler,
    Steps,
)
from .output import Terminal
from .outputs import check_places, checked_certificate
from .page import Page, whom
from .plan import plan_of
from .psi.request import outside_of, progress_over
from .requests import Admission, FileOptions


@frozen(kw_only=True)
class _Loss:
    """A proven loss, and at what it is stated.

    Attributes:
        notion: its notion.
        sign: what it is called: ε or τ.
        lower: None where only an upper bound is proven.
        upper: None where there is no public domain.
        delta: δ in the approximate notion.
        order: of the Rényi notion.
    """

    notion: str
    sign: str = "ε"
    lower: float | None = None
    upper: float | None = None
    delta: float | None = None
    order: float | None = None

    def as_json(self) -> dict[str, object]:
        """Return the loss in JSON's types; null where the notion or the domain has no such figure."""
        bounds = None if self.upper is None else [self.lower, self.upper]
        epsilon, tau = (bounds, None) if self.sign == "ε" else (None, bounds)
        return {"notion": self.notion, "epsilon": epsilon, "delta": self.delta, "order": self.order, "tau": tau}

    def beside(self, numbers: Numbers, stated_delta: str | None) -> str:
        """Say in words at what order or δ the loss is stated."""
        if self.delta is not None:
            delta = numbers.most(self.delta) if stated_delta is None else numbers.stated(stated_delta)
            return f" at δ = {delta}"
        return "" if self.order is None else f" at order {numbers.about(self.order)}"


@frozen(kw_only=True)
class _Proven:
    """What holds for every record of the domain, or for every record that is drawn where there is none.

    Attributes:
        derivation: the theorem, with its assumptions.
        loss: the bound.
        gap: whether the gap to the largest weights is proven too.
    """

    derivation: Derivation
    loss: _Loss
    gap: bool = True


@frozen(kw_only=True)
class Weighed(Answer):
    """The weights that were written, and what is proven about them.

    Attributes:
        run: what was weighed.
        resample: how that was stated.
        delta: the δ of the target, where it was stated beside the sampler's options.
        proven: what holds.
        outside: what happened to records outside the domain.
        measured: for the data's owner.
        output: where the weights are: a file, or a folder with one for each data file.
        taken_up: how many files of the folder were there already; None for a file.
        certificate: where it is.
    """

    run: SampledRun
    resample: str | None
    delta: str | None
    proven: _Proven
    outside: str
    measured: RecordWeights
    output: Path
    taken_up: int | None
    certificate: Path | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        derivation, measured, domain = self.proven.derivation, self.measured, self.run.domain
        gap = None if measured.gap is None or math.isinf(measured.gap) else measured.gap
        return {
            "mechanism": statement_of(self.run.mechanism).as_json(),
            "sampler": statement_of(self.run.sampler).as_json(),
            "resample": self.resample,
            "steps": self.run.steps,
            **self.proven.loss.as_json(),
            "theorem": str(derivation),
            "domain": domain_as_json(domain),
            "assumptions": assumptions_as_json(derivation.assumptions),
            "output": str(self.output),
            "taken_up": self.taken_up,
            "certificate": path_as_json(self.certificate),
            "private": {
                "notice": "computed from the records: for the data's owner, not for publication; so is the output",
                "n": measured.records,
                "outside_domain": measured.outside,
                "expected_sample_size": list(measured.expected_sample_size),
                "psi_max": None if math.isinf(measured.largest_loss) else measured.largest_loss,
                "gap": gap,
                "gap_proven": None if measured.gap is None else self._gap_is_proven,
                "reach": None
                if measured.reach is None
                else [{"name": _name(one), "proven": one.value, "n": n} for one, n in measured.reach.items()],
            },
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        loss, numbers = self.proven.loss, page.numbers
        page.run(
            self.run.mechanism.about.name,
            self.run.sampler.about.name,
            steps=self.run.steps,
            resample=self.resample,
        )
        if loss.upper is None:
            beside = loss.beside(numbers, self.delta)
            page.print(f"{loss.sign}      none{beside}: no public domain was declared (--option radius=R)", 2)
        else:
            bound = f"{loss.sign} ≤ {numbers.most(loss.upper)}{loss.beside(numbers, self.delta)}"
            page.bold(bound, f" for {whom(self.run.domain)}")
        page.print(str(self.proven.derivation), 2)
        page.files({"certificate": self.certificate})
        page.assumptions(self.proven.derivation.assumptions)
        self._show_owners(page)

    def _show_owners(self, page: Page) -> None:
        measured, numbers, loss = self.measured, page.numbers, self.proven.loss
        reach = measured.reach or {}
        gap = [] if measured.reach is None else [("gap to the largest weights", self._gap(numbers))]
        page.owners(
            [
                ("records", f"{measured.records:,}"),
                ("outside the domain", f"{measured.outside:,} ({self.outside})"),
                ("expected sample size", numbers.about(measured.expected_sample_size[1])),
                (f"{'ψ' if loss.notion == PURE.name else loss.sign}, largest", numbers.most(measured.largest_loss)),
                *((_name(one), f"{n:,}") for one, n in reach.items()),
                *gap,
            ]
        )
        for one in reach:
            page.print(f"{_name(one)}: {one.value}", 2)
        page.files({"weights": self.output})
        if self.taken_up:
            page.print(f"of an earlier run: {self.taken_up:,} files, not weighed again", 2)

    @property
    def _gap_is_proven(self) -> bool:
        return self.proven.gap and self.measured.gap is not None and math.isfinite(self.measured.gap)

    def _gap(self, numbers: Numbers) -> str:
        gap = self.measured.gap
        if gap is None or math.isinf(gap):
            return "none is known"
        return f"at most {numbers.most(gap)}" if self._gap_is_proven else f"about {numbers.about(gap)}"


def _name(reach: Reach) -> str:
    return reach.name.lower().replace("_", " ")


class _How(TypedDict):
    """How records are passed over."""

    threads: int
    progress: Progress | None


def weights(
    mechanism: Mechanism,
    data: DataSet,
    output: Output,
    terminal: Terminal,
    sampler: Sampler = "privacy-constrained",
    epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="Loss that no record may exceed: ε, or τ at an order.")
    ] = None,
    delta: Annotated[str | None, typer.Option(metavar="D", help="δ of the target, for Gaussian sums.")] = None,
    order: Annotated[
        str | None, typer.Option(metavar="A", help="Rényi order of the target above 1, for Gaussian sums.")
    ] = None,
    resample: Resample = None,
    steps: Steps = 1,
    option: Options = None,
    *,
    file: FileOptions,
    outside: Outside = "clip",
    certificate: Certificate = None,
    admission: Admission,
) -> Weighed:
    """Weight and probability of every record of a file, however long; by default the largest within a target.

    They are written to --output, for the data's owner alone: to a csv or parquet file; or, for a name without an
    ending, to a folder, a file for each data file. A run into a folder that was interrupted is taken up when it is
    started again.
    """
    plan = plan_of(resample, steps)
    registry = admission.registry
    target = _target(registry, sampler, {"epsilon": epsilon, "delta": delta, "order": order})
    given = composed(mechanism, sampler, [*(option or []), *target], registry)
    anywhere = _anywhere(given, plan)
    outside_domain = outside_of(outside, "radius" in given.run)
    by_file = output.is_dir() or not output.suffix
    if not by_file:
        require_weights_path(output)
    check_places(data, {"output": output, "certificate": certificate}, folders=["output"] if output.is_dir() else [])
    with open_records(data, file.reading) as records:
        domain = domain_of(given, records.columns)
        run_of, proven = _proven(anywhere, domain, given.run.get("radius", ""))
        content = None if certificate is None else checked_certificate("certificate", profile_certificate(run_of))
        # the weights of a file appear once all are there, and the certificate with them
        with published() as files, progress_over(records, terminal, "weighing") as advance:
            how: _How = {"threads": cores(), "progress": advance}
            if by_file:
                with blamed_on(path="output"):
                    found = weights_by_file(run_of, records, output, outside_domain, **how).reveal()
                measured, taken_up = found.weights, found.taken_up
            else:
                with put_weights(files, output) as into:
                    measured = record_weights(run_of, records, outside_domain, into=into, **how).reveal()
                taken_up = None
            if certificate is not None and content is not None:
                files.write(certificate, content, Rank.STATEMENT)
    return Weighed(
        run=run_of,
        resample=resample,
        delta=delta,
        proven=proven,
        outside=outside,
        measured=measured,
        output=output,
        taken_up=taken_up,
        certificate=certificate,
    )


def _target(registry: Registry, sampler: str, stated: Mapping[str, str | None]) -> list[str]:
    """The target as options of the sampler.

    Raises:
        InvalidValue: for a part of the target that the sampler does not have.
    """
    known = {"epsilon": "target"}
    target = {flag: value for flag, value in stated.items() if value is not None}
    declared = {one.name for one in options(registry.get(Role.SAMPLER, sampler))} if target else set()
    for flag, value in target.items():
        if known.get(flag, flag) not in declared:
            raise InvalidValue(
                flag,
                value,
                f"nothing, for sampler {sampler}: it has no {known.get(flag, flag)}",
                "Leave it out, or use --sampler privacy-constrained",
            )
    return [f"sampler.{known.get(flag, flag)}={value}" for flag, value in target.items()]


def _anywhere(given: Composition, plan: Releases) -> SampledRun:
    """The run that is weighed, without its domain."""
    found = SampledRun(mechanism=given.mechanism, sampler=given.sampler, releases=plan)
    match found.drawing:
        case ConstrainedRate():
            return found
    if plan.steps > 1:
        raise InvalidValue(
            "steps",
            str(plan.steps),
            f"1, for sampler {given.sampler.about.name}",
            "Its weights do not depend on the number of releases; certdp epsilon says what many cost",
        )
    if declared_loss(given.mechanism).pure is None:
        raise InvalidValue(
            "mechanism",
            given.mechanism.about.name,
            "a mechanism with a pure ε",
            "Choose one, such as laplace-sum or lloyd, or --sampler privacy-constrained with --delta or --order",
        )
    return found


def _proven(anywhere: SampledRun, domain: NormBall | None, radius: str) -> tuple[SampledRun, _Proven]:
    """The run on its domain, and what holds there; the radius is given in words."""
    try:
        run_of = anywhere.on(domain)
        match run_of.drawing:
            case ConstrainedRate() as rate:
                return run_of, _target_proven(run_of, gap=rate.proves_gap)
        return run_of, _profile_proven(run_of, radius)
    except NoFiniteSupremum as error:
        raise InvalidValue("radius", radius, "a domain on which ψ is bounded", str(error)) from None


def _target_proven(run_of: SampledRun, *, gap: bool) -> _Proven:
    loss = _loss(run_of.target_bound)
    if run_of.domain is None:
        loss = evolve(loss, upper=None)
    return _Proven(derivation=run_of.derivation, loss=loss, gap=gap)


def _loss(bound: Bound) -> _Loss:
    match bound:
        case Pure(epsilon):
            return _Loss(notion=PURE.name, upper=epsilon.upper_float)
        case Approximate(epsilon, delta):
            return _Loss(notion=APPROXIMATE.name, upper=epsilon.upper_float, delta=delta.upper_float)
        case Renyi(order, tau):
            lowest = Enclosure.of(order).lower_float
            return _Loss(notion=RENYI.name, sign="τ", upper=tau.upper_float, order=lowest)
    raise InvalidType("sampler", bound, "a target in the pure, the approximate or the Rényi notion")


def _profile_proven(run_of: SampledRun, radius: str) -> _Proven:
    profile = run_of.profile
    if run_of.domain is None:
        return _Proven(derivation=profile.derivation, loss=_Loss(notion=PURE.name))
    guarantee, found = profile.supremum(run_of.domain, precision=run_of.precision)
    upper = found.enclosure.upper_float
    if math.isinf(upper):
        raise InvalidValue("radius", radius, "a domain whose ε binary64 holds", "Use a smaller radius or more noise")
    # a profile that is a ceiling says nothing about how near ψ comes to it
    lower = found.enclosure.lower_float if math.isinf(run_of.drawing.ceiling) else None
    return _Proven(derivation=guarantee.derivation, loss=_Loss(notion=PURE.name, lower=lower, upper=upper))


command = application(weights, about_data=True)
