"""One training run: DPIS, or DP-SGD where the plan releases no norm sums; they differ in how a step's sum is drawn.

An epoch of DPIS begins with the norms of all gradients, of which K̃ is released. Each step draws a sum (`step_sums`),
adds noise of standard deviation σ_G·C once, and hands 1/b of it to the optimiser: with the factor b that DPIS
Algorithm 1 lost (erratum DPIS-line26), that is the mean gradient. Where C adapts, K̃* is released from the norms at
the end of an epoch, which are those that the next epoch begins with, so that one pass over the data serves both.

Everything is paid, and written down where there are checkpoints, before anything of it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import evolve, field, frozen

from ..accounting.derivation import REAL_VALUED_NOISE, Assumption, Theorem
from ..accounting.errors import InvalidValue, require_callable
from ..accounting.filters.spending import InterruptedChange, SpendingState, owned
from ..accounting.guarantees import Guarantee, require
from ..accounting.notions import Approximate
from ..accounting.provenance import Private
from ..accounting.relations import AddRemove, Record
from ..durable.files import digest_of, write_whole
from ..ledger import LedgerRequest, PaidFrom, request_of
from ..plugins.contract import Coins
from ..plugins.contract.coins import release_coins, seeded_run, stated_source
from ..runs.digests import digest_of_options
from ..verification.certificates.artefacts import with_digests
from .budget import AdaptiveClip, NoisySize, RunPlan
from .checkpoints import Checkpoints, CheckpointState
from .counted_coins import counted
from .gradients import Evaluation, RecordGradients, described
from .history import EpochFigures, History
from .model_statements import ModelStatement, as_npz
from .norm_sums import noisy_norm_sum, noisy_size
from .plan_options import options_of
from .run_account import EpochNoise, RunAccount, open_account, restored_account
from .sampling import FloatArray, TwoStage, Uniform
from .step_sums import ImportanceSampling, Sampling, StepFigures, UniformSampling, noisy_sum

if TYPE_CHECKING:
    from ..runs.certificates import Certified

_IN_TRAINING = Theorem("law", "given the past, a record enters a step with the mean of the rates it may have")
_NO_TUNING = Assumption(
    "options fixed beforehand", "model, optimiser and plan were chosen without these data; runs to tune them cost extra"
)


@final
@frozen(kw_only=True)
class Proposals:
    """Public options of the first stage of DPIS; they move the work and the bias, never the privacy.

    Args:
        multiplier: k ≥ 1: how far a norm may grow before it is clipped to what it was; a step evaluates at most about
            k·b records.
        floor: g_L/C in (0, 1], from which bounds start.

    Raises:
        InvalidValue: outside these ranges.
    """

    multiplier: Fraction = Fraction(5)
    floor: Fraction = Fraction(1, 100)

    def __attrs_post_init__(self) -> None:
        self.two_stage(Fraction(0))

    def two_stage(self, error: Fraction) -> TwoStage:
        """The sampling with these options, for norms within a relative error η."""
        return TwoStage(multiplier=self.multiplier, floor=self.floor, error=error)


@final
@frozen(kw_only=True)
class Report:
    """How far a run is.

    Attributes:
        epoch: the epoch's public figures so far, with the ε of all that was paid.
        epochs: E.
        steps_per_epoch: T.
        private: figures of the last step, for the data's owner.
    """

    epoch: EpochFigures
    epochs: int
    steps_per_epoch: int
    private: Private[StepFigures]


Progress: TypeAlias = Callable[[Report], None]
"""Called after each step."""


@final
@frozen(kw_only=True)
class Trained:
    """A finished run.

    Attributes:
        account: what was paid.
        history: what happened.
        is_private: whether all coins came from the operating system, in all parts of a run that was resumed.
        assumptions: what the guarantee assumes of the model, if anything.
        model: the trained model without its data, which may be published: a `TrainedNetwork` of a `RecordModel`, the
            module of a `TorchModel`; of a `RecordGradients` of your own its `model`, None where it has none.
        parameters: float64 copies of what was trained, by name: what is published.
    """

    account: RunAccount
    history: History
    is_private: bool
    assumptions: tuple[Assumption, ...]
    model: Any = field(default=None, eq=False, repr=False)
    parameters: Mapping[str, FloatArray] = field(factory=dict, eq=False, repr=False)

    @property
    def guarantee(self) -> Guarantee[Approximate, AddRemove, Record] | None:
        """What holds for the parameters and every release of the run; None with seeded coins: then nothing does."""
        return _trained_guarantee(self.account, self.assumptions) if self.is_private else None

    @property
    def content(self) -> bytes:
        """The parameters as an npz file, whose digest is the statement's."""
        return as_npz(self.parameters)

    @property
    def statement(self) -> ModelStatement:
        """What may be said of the model in public: how it was trained, on which grids, with which coins, its digest."""
        plan = self.account.plan
        return ModelStatement(
            method="dp-sgd" if plan.norm_sums is None else "dpis",
            plan=options_of(plan),
            epochs=tuple(self.history.epochs),
            grids=tuple(noise.unit for noise in self.account.begun),
            guarantee=self.guarantee,
            coins=stated_source(self.is_private),
            digest=digest_of(self.content),
        )

    def write(self, path: Path) -> None:
        """Write the parameters as an npz file, whole or not at all.

        Raises:
            InvalidValue: where the folder is missing or not writable.
        """
        write_whole(path, self.content)

    def certificate(self, name: str | None = None) -> Certified:
        """A publishable certificate that the run kept to its budget; see `RunAccount.certificate`.

        Args:
            name: of the file that the parameters are published as, without folders: the certificate then stands beside
                them alone, and `certdp check --artefact` refuses any other.

        Raises:
            InvalidValue: for seeded coins, with which nothing holds, names that the checker refuses, and as the
                account's.
        """
        if not self.is_private:
            raise seeded_run("certificate")
        stated = [*self.assumptions, _NO_TUNING]
        found = self.account.certificate(parameters="as released by the run", assumptions=stated)
        if name is None:
            return found
        return evolve(found, content=with_digests(found.content, {name: digest_of(self.content)}))

    @property
    def epsilon(self) -> float:
        """An upper bound of the ε at δ₀ that this run has paid; like σ_G it follows from outputs of the run."""
        return self.account.spent()


def _trained_guarantee(
    account: RunAccount, assumptions: Sequence[Assumption]
) -> Guarantee[Approximate, AddRemove, Record]:
    """What an account guarantees of a run that trains a model with these assumptions."""
    paid = account.guarantee
    return evolve(paid, derivation=_IN_TRAINING.conclude([paid.derivation], [*assumptions, _NO_TUNING]))


def train(
    records: RecordGradients,
    plan: RunPlan,
    *,
    proposals: Proposals | None = None,
    coins: Coins | None = None,
    checkpoints: Checkpoints | None = None,
    progress: Progress | None = None,
    ledger: PaidFrom | None = None,
) -> Trained:
    """Run a plan from its beginning; the model then holds the trained parameters.

    Args:
        records: the model, its optimiser and its data.
        plan: of the run. A public size need not be the true one: that would bias the gradients, not the privacy.
        proposals: of DPIS.
        coins: the operating system's; with seeded ones a run is not private.
        checkpoints: where to write down how far the run is; nowhere unless given, and nowhere with a ledger.
        progress: is told after each step.
        ledger: what the whole run is paid from before it begins, its budget (ε₀, δ₀): a `Ledger`, or a `LedgerRequest`.
            Such a run writes no checkpoints: interrupted, it stays paid and is lost.

    Guarantees:
        Everything that the run releases (Ñ, each K̃ and K̃*, the parameters after each step) together satisfies
        `Trained.guarantee`, within the assumptions of `sampling` and `gradients`.

    Raises:
        InvalidValue: where a checkpoint is there already, or another run uses the file; for checkpoints beside a
            ledger; for a budget that the fixed releases alone exceed; where the number of records changes during the
            run, at which the run stops with what was paid so far.
        BudgetExceeded: where the ledger does not cover the run. Otherwise as `LedgerRequest.pay`.
    """
    if ledger is not None and checkpoints is not None:  # two copies of one would end in two models, paid once
        remedy = "Leave them out: a run that a ledger pays is not resumed. Interrupted, it stays paid and is lost"
        raise InvalidValue("checkpoints", str(checkpoints.path), "nothing, with a ledger", remedy)
    run = _Run(records, open_account(plan), proposals, coins, checkpoints, progress)
    with _alone(checkpoints):
        if checkpoints is not None and checkpoints.begun:
            raise InvalidValue("checkpoints", str(checkpoints.path), "a file that is not there yet", "Resume that run")
        if ledger is not None:
            run.pay(request_of(ledger, "training"))
        return run.finished()


def resume(
    records: RecordGradients,
    plan: RunPlan,
    checkpoints: Checkpoints,
    *,
    proposals: Proposals | None = None,
    coins: Coins | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Go on with a run that was interrupted or killed, from the file it left; arguments as for `train`.

    Seeded coins are to be as they were when the run began: words that it has taken are passed over, so that it goes on
    as if nobody had interrupted it. One part with seeded coins makes the whole run one that is not private. A run that
    is paid from a ledger leaves no such file, and is not resumed.

    Guarantees:
        As `train`, for all parts together: what was paid counts, and steps that may have been drawn are not drawn
        again.

    Raises:
        InvalidValue: where there is no checkpoint, for one that another run uses, a damaged one, and one of another
            plan, model, optimiser or proposals, and of other records.
    """
    if not checkpoints.begun:
        raise InvalidValue("checkpoints", str(checkpoints.path), "the file of a run that has begun", "Call train")
    with _alone(checkpoints):
        state = checkpoints.read()
        run = _Run(records, restored_account(plan, state.account), proposals, coins, checkpoints, progress)
        run.go_back_to(state)
        return run.finished()


def _alone(checkpoints: Checkpoints | None) -> AbstractContextManager[None]:
    return nullcontext() if checkpoints is None else checkpoints.alone()


@final
class _Run(SpendingState):
    """A run between its steps: some of these may be paid and not yet drawn."""

    def __init__(
        self,
        records: RecordGradients,
        account: RunAccount,
        proposals: Proposals | None,
        coins: Coins | None,
        checkpoints: Checkpoints | None,
        progress: Progress | None,
    ) -> None:
        if progress is not None:
            require_callable("progress", progress)
        if proposals is not None:
            require("proposals", proposals, Proposals, "State Proposals(multiplier=…, floor=…)")
        self._records = records
        self._account = account
        self._plan = account.plan
        self._coins, self._source = counted(release_coins(coins))
        self._is_private = self._coins.private
        if not self._is_private:
            account.drawn_with_a_seed()
        if REAL_VALUED_NOISE not in records.assumptions:
            account.drawn_correctly_rounded()
        self._checkpoints = checkpoints
        self._identity = None if checkpoints is None else records.identity()
        self._progress = progress
        self._proposals = proposals or Proposals()
        self._sampling = _sampling(self._plan, records.error, self._proposals)
        self._history = History()
        self._count = records.size
        self._clip = self._plan.clip.first
        self._unused = 0
        self._everyone: Evaluation | None = None

    def pay(self, request: LedgerRequest) -> None:
        """Pay for the whole run, before anything of it is drawn."""
        request.pay(self._cost, plan=self._digest, coins=self._coins)

    @property
    def _cost(self) -> Guarantee[Approximate, AddRemove, Record]:
        """The guarantee of the whole run as it is before it begins."""
        account = open_account(self._plan)
        if REAL_VALUED_NOISE not in self._records.assumptions:
            account.drawn_correctly_rounded()
        return _trained_guarantee(account, self._records.assumptions)

    @property
    def _digest(self) -> str:
        trained = self._identity or self._records.identity()
        stated = {"model": trained.model, "optimiser": trained.optimiser, "proposals": described(self._proposals)}
        return digest_of_options({"plan": options_of(self._plan), **stated})

    def go_back_to(self, state: CheckpointState) -> None:
        """Where the run stood."""
        if state.count != self._records.size:
            raise _changed(self._records.size, state.count)
        assert self._identity is not None
        self._identity.require(state.identity)
        if state.proposals != described(self._proposals):
            before = f"{state.proposals}, as when the run began"
            raise InvalidValue("proposals", described(self._proposals), before, "Resume with the options of the run")
        _require_sound(state, self._account)
        self._records.restore(state.model)
        self._source.go_on_after(state.words)
        self._is_private = self._is_private and state.is_private
        if not self._is_private:
            self._account.drawn_with_a_seed()
        self._sampling.bounds = state.bounds
        self._history = state.history
        self._clip = state.clip
        self._unused = state.unused

    def finished(self) -> Trained:
        """All that is left of the run."""
        account, epochs = self._account, self._plan.epochs
        self._write(self._unused)  # first: a run that ends before anything is paid can be resumed, too
        try:
            self._learn_size()
            while True:
                if account.current is not None and self._steps_left(account.current):
                    self._take_steps(account.current)
                    continue
                self._adapt_clip()
                if account.next_epoch == epochs:
                    break
                self._begin_epoch()
        except BaseException:
            with suppress(InterruptedChange):  # then what was written before a payment holds: nothing of it was drawn
                self._write(self._unused)  # every step that began is no longer among the unused
            raise
        self._write(0)
        return Trained(
            account=account,
            history=self._history,
            is_private=self._is_private,
            assumptions=self._records.assumptions,
            model=getattr(self._records, "model", None),
            parameters=self._records.released(),
        )

    # Releases

    def _learn_size(self) -> None:
        """Release Ñ where it is not public; the guess stands in for one that was paid and lost."""
        account, size = self._account, self._plan.size
        if not isinstance(size, NoisySize):
            return
        if not account.size_paid:
            noise = account.pay_size()
            self._write(0)
            account.size_released(noisy_size(self._count, scale=noise, coins=self._coins))
        elif not account.size_known:
            account.size_released(size.guess.value)

    def _begin_epoch(self) -> None:
        """Release K̃ where norms are summed, and learn how much noise the steps need."""
        account, clip = self._account, self._clip
        self._check_count()
        number, norm_sum, norms = account.next_epoch, account.size * clip, np.empty(0)
        if self._plan.norm_sums is not None:
            norms = self._evaluated().norms
            if not account.norm_sum_paid(number):
                release = account.pay_norm_sum(number, clip)
                self._write(0)
                found = noisy_norm_sum(norms, bound=clip, rate=release.rate, scale=release.scale, coins=self._coins)
                norm_sum = release.bounded(Fraction(found))
        self._sampling.begin(norms, clip)  # first: an epoch that has begun must not find bounds for another C
        account.begin_epoch(norm_sum, clip)

    def _adapt_clip(self) -> None:
        """Release K̃* after an epoch but the last, where C adapts; C stays where it was paid and lost."""
        account, number = self._account, self._account.next_epoch - 1
        if number < 0 or number == self._plan.epochs - 1 or account.clip_paid(number):
            return
        if not isinstance(self._plan.clip, AdaptiveClip):
            return
        self._check_count()
        norms = self._evaluated().norms
        release = account.pay_clip()
        self._write(0)
        found = noisy_norm_sum(norms, bound=release.bound, rate=Fraction(1), scale=release.scale, coins=self._coins)
        self._clip = release.following(Fraction(found))

    # Steps

    def _steps_left(self, noise: EpochNoise) -> bool:
        return self._unused > 0 or self._account.steps_paid < self._plan.steps_per_epoch

    def _take_steps(self, noise: EpochNoise) -> None:
        """Pay for some steps, write that down, take them."""
        self._history.begin(noise)
        if not self._unused:
            left = self._plan.steps_per_epoch - self._account.steps_paid
            count = left if self._checkpoints is None else min(left, self._checkpoints.every)
            self._account.pay_steps(count)
            self._unused = count
        self._write(0)
        self._history.paid(self._account.spent())
        while self._unused:
            self._take_step(noise)

    @owned
    def _take_step(self, noise: EpochNoise) -> None:
        self._check_count()
        self._unused -= 1  # from here on it may have drawn something
        self._everyone = None
        released, figures = noisy_sum(self._sampling, self._records, noise, self._coins)
        self._records.step(released / float(noise.batch))
        self._history.step(figures)
        if self._progress is not None:
            self._progress(
                Report(
                    epoch=self._history.epochs[-1],
                    epochs=self._plan.epochs,
                    steps_per_epoch=self._plan.steps_per_epoch,
                    private=Private(figures),
                )
            )

    # Shared

    def _evaluated(self) -> Evaluation:
        """Return the evaluation of all records at the current parameters."""
        if self._everyone is None:
            self._everyone = self._records.evaluate(np.arange(self._count))
        return self._everyone

    def _check_count(self) -> None:
        if self._records.size != self._count:
            raise _changed(self._records.size, self._count)

    def _write(self, unused: int) -> None:
        if self._checkpoints is not None and self._identity is not None:
            self._checkpoints.write(
                CheckpointState(
                    account=self._account.state(),
                    unused=unused,
                    clip=self._clip,
                    count=self._count,
                    is_private=self._is_private,
                    words=self._source.words,
                    identity=self._identity,
                    proposals=described(self._proposals),
                    history=self._history,
                    model=self._records.state(),
                    bounds=self._sampling.bounds,
                )
            )


def _sampling(plan: RunPlan, error: Fraction, proposals: Proposals) -> Sampling:
    if plan.norm_sums is None:
        return UniformSampling(Uniform(error=error))
    return ImportanceSampling(proposals.two_stage(error))


def _require_sound(state: CheckpointState, account: RunAccount) -> None:
    """Raises InvalidValue for a state from which steps would be drawn that nobody paid for, or too often."""
    if not 0 <= state.unused <= account.steps_paid:
        raise _damaged(f"{state.unused} unused steps", f"at most the {account.steps_paid} that were paid")
    over = not state.unused and account.steps_paid == account.plan.steps_per_epoch
    if account.plan.norm_sums is None or account.current is None or over:
        return  # no step that is still to come asks for the bounds
    bounds, clip = state.bounds, account.current.clip
    if bounds.shape != (state.count,):
        raise _damaged(f"{len(bounds)} bounds", f"{state.count}, one for each record")
    if bounds.size and not (bounds.min() > 0 and Fraction(float(bounds.max())) <= clip):
        raise _damaged("a bound on a norm", "bounds above 0, at most C")


def _damaged(found: str, admissible: str) -> InvalidValue:
    return InvalidValue("checkpoints", found, admissible, "The file is damaged: begin anew")


def _changed(now: int, before: int) -> InvalidValue:
    remedy = "Keep the data as they are during a run; what was paid stays paid"
    return InvalidValue("records", f"{now} records", f"{before}, as when the run began", remedy)
