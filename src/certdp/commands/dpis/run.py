"""The run that `certdp dpis` is asked for: options become its plan, a plan its options; errors name options."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from attrs import frozen

from ...accounting.errors import InvalidValue, blamed_on
from ...accounting.exact import Number, exact
from ...accounting.provenance import Public
from ...accounting.units import Delta, Epsilon, Order
from ...dpis.budget import (
    Accounting,
    AdaptiveClip,
    Clip,
    ConstantNoise,
    DominatedAccounting,
    ExponentialDecay,
    FixedClip,
    NoisySize,
    NormSums,
    PublicSize,
    RenyiAccounting,
    RunPlan,
    Schedule,
    Size,
)
from ...dpis.engine import Proposals
from ...runs.calibration import Budget
from ..options import refuse_unused

_SHARE_OF_RECORDS = Fraction(1, 50)  # DPIS Table 2: σ_K = 0.02·N


@frozen(kw_only=True)
class AdaptiveRequest:
    """What a command says about a clipping bound that adapts; None where it says nothing.

    Attributes:
        quantile: λ, or None for a bound that stays.
        interval: the least and the largest C, with a colon between.
        external: C*, by default the largest C.
        noise: its noise multiplier, by default that of the norm sums.
    """

    quantile: str | None = None
    interval: str | None = None
    external: str | None = None
    noise: str | None = None

    def clip(self, first: str, sums: NormSums | None) -> Clip:
        """The rule asked for.

        Args:
            first: C of the first epoch.
            sums: how norm sums are released, if they are.

        Raises:
            InvalidValue: for an incomplete one, and for values out of range.
        """
        if self.quantile is None:
            others = {"clip-interval": self.interval, "clip-external": self.external, "clip-noise": self.noise}
            refuse_unused(others, "without --clip-quantile", "State --clip-quantile too, or leave it out")
            with blamed_on(bound="clip"):
                return FixedClip(bound=Public(first))
        lowest, sign, highest = (self.interval or "").partition(":")
        if not sign:
            raise InvalidValue("clip-interval", self.interval or "none", "LOW:HIGH", "State the public bounds of C")
        noise: Public[Number]
        if self.noise is not None:
            noise = Public(self.noise)
        elif sums is not None:
            noise = Public(sums.noise_multiplier.value)
        else:
            raise InvalidValue("clip-noise", "none", "a number > 0, in a run of DP-SGD", "State --clip-noise K")
        with blamed_on(
            start="clip",
            external="clip-interval" if self.external is None else "clip-external",
            quantile="clip-quantile",
            noise_multiplier="clip-noise",
            lowest="clip-interval",
            highest="clip-interval",
        ):
            return AdaptiveClip(
                start=Public(first),
                external=Public(self.external or highest),
                quantile=Public(self.quantile),
                noise_multiplier=noise,
                lowest=Public(lowest),
                highest=Public(highest),
            )


@frozen(kw_only=True)
class RunRequest:
    """What a command says about a run; None where it says nothing."""

    records: str
    batch: str
    epochs: int
    epsilon: str
    delta: str
    steps_per_epoch: int | None
    clip: str
    size_noise: str | None
    norm_noise: str | None
    norm_rate: str | None
    margin: str | None
    divider: str | None
    order: str | None
    largest_rate: str | None
    uniform: bool = False
    adaptive: AdaptiveRequest = AdaptiveRequest()
    decay: str | None = None
    multiplier: str | None = None
    floor: str | None = None

    def plan(self) -> RunPlan:
        """The run asked for.

        Raises:
            InvalidValue: for numbers out of their ranges, and options of which nothing would come.
        """
        self._refuse_unused()
        records, batch = exact(self.records, parameter="records"), exact(self.batch, parameter="batch")
        for name, value in (("records", records), ("batch", batch)):
            if value <= 0:
                raise InvalidValue(name, value, "a number > 0")
        sums = None if self.uniform else self._norm_sums(records)
        with blamed_on(largest_rate="largest-rate"):
            return RunPlan(
                budget=Budget(epsilon=Epsilon(self.epsilon), delta=Delta(self.delta)),
                batch=Public(batch),
                epochs=self.epochs,
                steps_per_epoch=self.steps_per_epoch or max(1, round(records / batch)),
                size=self._size(records),
                clip=self.adaptive.clip(self.clip, sums),
                norm_sums=sums,
                schedule=self._schedule(),
                accounting=self._accounting(),
                **_public(divider=self.divider),
            )

    def proposals(self) -> Proposals:
        """How records are proposed.

        Raises:
            InvalidValue: for numbers out of their ranges.
        """
        stated = {"multiplier": self.multiplier, "floor": self.floor}
        return Proposals(**{name: exact(text, parameter=name) for name, text in stated.items() if text is not None})

    def _refuse_unused(self) -> None:
        """What would not change the run."""
        if self.uniform:
            of_dpis = {
                "norm-noise": self.norm_noise,
                "norm-rate": self.norm_rate,
                "margin": self.margin,
                "divider": self.divider,
                "multiplier": self.multiplier,
                "floor": self.floor,
            }
            refuse_unused(of_dpis, "in a run of DP-SGD", "Leave it out, or train by DPIS: without --uniform")
        if self.largest_rate is not None:
            of_orders = {"order": self.order, "divider": self.divider}
            refuse_unused(of_orders, "beside --largest-rate", "Leave it out, or account by a Rényi order")

    def _norm_sums(self, records: Fraction) -> NormSums:
        noise = Public(records * _SHARE_OF_RECORDS) if self.norm_noise is None else Public(self.norm_noise)
        with blamed_on(noise_multiplier="norm-noise", rate="norm-rate"):
            return NormSums(noise_multiplier=noise, **_public(rate=self.norm_rate, margin=self.margin))

    def _size(self, records: Fraction) -> Size:
        with blamed_on(size="records", guess="records", noise="size-noise"):
            if self.size_noise is None:
                return PublicSize(size=Public(records))
            return NoisySize(noise=Public(self.size_noise), guess=Public(records))

    def _schedule(self) -> Schedule:
        if self.decay is None:
            return ConstantNoise()
        with blamed_on(base="noise-decay"):
            return ExponentialDecay(base=Public(self.decay))

    def _accounting(self) -> Accounting:
        if self.largest_rate is None:
            return RenyiAccounting(order=None if self.order is None else Order(self.order))
        with blamed_on(rate="largest-rate"):
            return DominatedAccounting(rate=Public(self.largest_rate))


def options_of(plan: RunPlan) -> dict[str, str | bool]:
    """What to state on the command line for this plan, by option; numbers exactly, True for a flag."""
    values: dict[str, object] = {
        "batch": plan.batch.value,
        "epochs": plan.epochs,
        "steps-per-epoch": plan.steps_per_epoch,
        "epsilon": plan.budget.epsilon.value,
        "delta": plan.budget.delta.value,
        **_size_options(plan.size),
        **_clip_options(plan.clip),
        **_accounting_options(plan.accounting),
    }
    if isinstance(plan.schedule, ExponentialDecay):
        values["noise-decay"] = plan.schedule.base.value
    if plan.norm_sums is not None:
        values["norm-noise"] = plan.norm_sums.noise_multiplier.value
        values["norm-rate"] = plan.norm_sums.rate.value
        values["margin"] = plan.norm_sums.margin.value
        if isinstance(plan.accounting, RenyiAccounting):
            values["divider"] = plan.divider.value
    stated: dict[str, str | bool] = {name: str(value) for name, value in values.items()}
    return stated if plan.norm_sums is not None else {**stated, "uniform": True}


def _size_options(size: Size) -> Mapping[str, object]:
    match size:
        case PublicSize(size=number):
            return {"records": number.value}
        case NoisySize(guess=guess, noise=noise):
            return {"records": guess.value, "size-noise": noise.value}


def _clip_options(clip: Clip) -> Mapping[str, object]:
    match clip:
        case FixedClip(bound=bound):
            return {"clip": bound.value}
        case AdaptiveClip():
            return {
                "clip": clip.start.value,
                "clip-quantile": clip.quantile.value,
                "clip-interval": f"{clip.lowest.value}:{clip.highest.value}",
                "clip-external": clip.external.value,
                "clip-noise": clip.noise_multiplier.value,
            }


def _accounting_options(accounting: Accounting) -> Mapping[str, object]:
    match accounting:
        case RenyiAccounting(order=Order() as order):
            return {"order": order.value}
        case RenyiAccounting():
            return {}
        case DominatedAccounting(rate=rate):
            return {"largest-rate": rate.value}


def _public(**stated: str | None) -> dict[str, Public[str]]:
    """Declare public what is stated."""
    return {name: Public(text) for name, text in stated.items() if text is not None}
