"""The run that `certdp dpis` is asked for: options become its plan, a plan its options; errors name options."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated

import typer
from attrs import frozen

from ...accounting import units
from ...accounting.errors import InvalidValue, blamed_on
from ...accounting.exact import Number, exact
from ...accounting.provenance import Public
from ...accounting.units import Order
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
from ..options import Epsilon, refuse_unused
from .options import (
    Batch,
    Divider,
    Epochs,
    LargestRate,
    Margin,
    NormNoise,
    NormRate,
    Records,
    SizeNoise,
    StepsPerEpoch,
)
from .options import Clip as ClipOption
from .options import Delta as DeltaOption
from .options import Order as OrderOption

_SHARE_OF_RECORDS = Fraction(1, 50)  # DPIS Table 2: σ_K = 0.02·N


@frozen(kw_only=True)
class AdaptiveRequest:
    """What a command is told of a clipping bound that adapts; None where nothing is said."""

    clip_quantile: Annotated[
        str | None, typer.Option(metavar="L", help="λ: after each epoch C becomes λ times the mean norm (Section 3.5).")
    ] = None
    clip_interval: Annotated[
        str | None, typer.Option(metavar="LOW:HIGH", help="Public interval in which C stays as it adapts.")
    ] = None
    clip_external: Annotated[
        str | None, typer.Option(metavar="C*", help="Bound on norms where C adapts; by default HIGH.")
    ] = None
    clip_noise: Annotated[
        str | None, typer.Option(metavar="K", help="Its noise multiplier, over C*; by default --norm-noise.")
    ] = None

    def clip(self, first: str, sums: NormSums | None) -> Clip:
        """The rule asked for.

        Args:
            first: C of the first epoch.
            sums: how norm sums are released, if they are.

        Raises:
            InvalidValue: for an incomplete one, and for values out of range.
        """
        if self.clip_quantile is None:
            others = {
                "clip-interval": self.clip_interval,
                "clip-external": self.clip_external,
                "clip-noise": self.clip_noise,
            }
            refuse_unused(others, "without --clip-quantile", "State --clip-quantile too, or leave it out")
            with blamed_on(bound="clip"):
                return FixedClip(bound=Public(first))
        lowest, sign, highest = (self.clip_interval or "").partition(":")
        if not sign:
            raise InvalidValue(
                "clip-interval", self.clip_interval or "none", "LOW:HIGH", "State the public bounds of C"
            )
        noise: Public[Number]
        if self.clip_noise is not None:
            noise = Public(self.clip_noise)
        elif sums is not None:
            noise = Public(sums.noise_multiplier.value)
        else:
            raise InvalidValue("clip-noise", "none", "a number > 0, in a run of DP-SGD", "State --clip-noise K")
        with blamed_on(
            start="clip",
            external="clip-interval" if self.clip_external is None else "clip-external",
            quantile="clip-quantile",
            noise_multiplier="clip-noise",
            lowest="clip-interval",
            highest="clip-interval",
        ):
            return AdaptiveClip(
                start=Public(first),
                external=Public(self.clip_external or highest),
                quantile=Public(self.clip_quantile),
                noise_multiplier=noise,
                lowest=Public(lowest),
                highest=Public(highest),
            )


@frozen(kw_only=True)
class RunRequest:
    """What a command is told of a run; None where nothing is said."""

    records: Records
    batch: Batch
    epochs: Epochs
    epsilon: Epsilon
    delta: DeltaOption
    steps_per_epoch: StepsPerEpoch = None
    clip: ClipOption = "1"
    size_noise: SizeNoise = None
    norm_noise: NormNoise = None
    norm_rate: NormRate = None
    margin: Margin = None
    divider: Divider = None
    order: OrderOption = None
    largest_rate: LargestRate = None

    def plan(self) -> RunPlan:
        """The run asked for: DPIS with a clipping bound that stays.

        Raises:
            InvalidValue: for numbers out of their ranges, and options of which nothing would come.
        """
        return self._plan(self._norm_sums, AdaptiveRequest(), ConstantNoise)

    def _plan(
        self, sums: Callable[[], NormSums | None], adaptive: AdaptiveRequest, schedule: Callable[[], Schedule]
    ) -> RunPlan:
        if self.largest_rate is not None:
            of_orders = {"order": self.order, "divider": self.divider}
            refuse_unused(of_orders, "beside --largest-rate", "Leave it out, or account by a Rényi order")
        records, batch = self._number_of_records, _positive("batch", self.batch)
        norm_sums = sums()
        with blamed_on(largest_rate="largest-rate"):
            return RunPlan(
                budget=Budget(epsilon=units.Epsilon(self.epsilon), delta=units.Delta(self.delta)),
                batch=Public(batch),
                epochs=self.epochs,
                steps_per_epoch=self.steps_per_epoch or max(1, round(records / batch)),
                size=self._size(),
                clip=adaptive.clip(self.clip, norm_sums),
                norm_sums=norm_sums,
                schedule=schedule(),
                accounting=self._accounting(),
                **_public(divider=self.divider),
            )

    @property
    def _number_of_records(self) -> Fraction:
        return _positive("records", self.records)

    def _norm_sums(self) -> NormSums:
        stated = self.norm_noise
        noise = Public(self._number_of_records * _SHARE_OF_RECORDS) if stated is None else Public(stated)
        with blamed_on(noise_multiplier="norm-noise", rate="norm-rate"):
            return NormSums(noise_multiplier=noise, **_public(rate=self.norm_rate, margin=self.margin))

    def _size(self) -> Size:
        records = Public(self._number_of_records)
        with blamed_on(size="records", guess="records", noise="size-noise"):
            if self.size_noise is None:
                return PublicSize(size=records)
            return NoisySize(noise=Public(self.size_noise), guess=records)

    def _accounting(self) -> Accounting:
        if self.largest_rate is None:
            return RenyiAccounting(order=None if self.order is None else Order(self.order))
        with blamed_on(rate="largest-rate"):
            return DominatedAccounting(rate=Public(self.largest_rate))


@frozen(kw_only=True)
class TrainingRequest(RunRequest):
    """What a command is told of a training run; None where nothing is said."""

    uniform: Annotated[bool, typer.Option("--uniform", help="DP-SGD: every record with probability b/N.")] = False
    adaptive: AdaptiveRequest
    noise_decay: Annotated[
        str | None, typer.Option(metavar="K", help="Let the noise multiplier fall by this factor an epoch; in (0, 1].")
    ] = None
    multiplier: Annotated[
        str | None,
        typer.Option(metavar="K", help="k ≥ 1: how far a norm may grow within an epoch unclipped; by default 5."),
    ] = None
    floor: Annotated[
        str | None, typer.Option(metavar="G", help="g_L/C in (0, 1]: where bounds on norms start; by default 0.01.")
    ] = None

    def plan(self) -> RunPlan:
        """The run asked for.

        Raises:
            InvalidValue: for numbers out of their ranges, and options of which nothing would come.
        """
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
        return self._plan(lambda: None if self.uniform else self._norm_sums(), self.adaptive, self._schedule)

    def proposals(self) -> Proposals:
        """How records are proposed.

        Raises:
            InvalidValue: for numbers out of their ranges.
        """
        stated = {"multiplier": self.multiplier, "floor": self.floor}
        return Proposals(**{name: exact(text, parameter=name) for name, text in stated.items() if text is not None})

    def _schedule(self) -> Schedule:
        if self.noise_decay is None:
            return ConstantNoise()
        with blamed_on(base="noise-decay"):
            return ExponentialDecay(base=Public(self.noise_decay))


def _positive(name: str, text: str) -> Fraction:
    value = exact(text, parameter=name)
    if value <= 0:
        raise InvalidValue(name, value, "a number > 0")
    return value


def _public(**stated: str | None) -> dict[str, Public[str]]:
    """Declare public what is stated."""
    return {name: Public(text) for name, text in stated.items() if text is not None}
