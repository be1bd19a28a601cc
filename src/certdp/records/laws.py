"""What a run loses about one record: the law that every pass over records evaluates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
from attrs import frozen

from ..accounting.bulk.amplification import scaled
from ..accounting.bulk.pairs import BulkPairs
from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.exact import Floats
from ..accounting.expressions import EVERYWHERE, Expression, Rounded, Variable, W, upper
from ..accounting.feasible_weights.plans import on_one_sample, samples
from ..accounting.feasible_weights.rates import ConstrainedRate
from ..accounting.pairs import RandomisedResponsePair
from ..accounting.relations import ADD_REMOVE, Direction
from ..accounting.sampling.losses import PureLoss
from ..accounting.sampling.records import Features, Realisation, psi_upper
from ..accounting.sampling.releases import ResampleEach, SampleOnce
from ..accounting.units import Delta, Order
from ..plugins.contract import open_parameters
from ..runs.declared import pure_loss_of
from ..runs.run import NotionAbsent
from ..runs.sampled import SampledRun

At: TypeAlias = Delta | Order | None
"""Where a loss is read: ε at a δ, τ at a Rényi order, or ψ; of a run with a target, the loss in its notion."""

Losses: TypeAlias = Callable[[Realisation, Features], Floats]
"""Proven bounds per record, for the probabilities drawn and the weights applied."""

_Together: TypeAlias = Callable[[BulkPairs, Floats, int], Floats]
"""Bounds per record, from the pairs on one sample, the rates and the number of fresh samples."""

_PRECISION = 96


@final
@frozen
class RecordLaw:
    """A law that gives what is lost about each record.

    Attributes:
        losses: what the releases lose, at least 0; 0 where a record is never drawn.
        spent: what released parameters cost beside, each of which looked at every record.
    """

    losses: Losses
    spent: Fraction

    def __call__(self, realisation: Realisation, features: Features) -> Floats:
        """Both together, rounded up."""
        return self.with_cost(self.losses(realisation, features))

    def with_cost(self, losses: Floats) -> Floats:
        """Losses with the cost of released parameters, rounded up."""
        if not self.spent:
            return losses
        cost = float(self.spent)
        above = cost if cost >= self.spent else float(np.nextafter(cost, np.inf))
        return np.nextafter(losses + above, np.inf)


def at_to_text(at: At) -> str | None:
    """Where a loss is read, in exact text."""
    return None if at is None else f"{type(at).__name__} {at.value}"


def law_of(run: SampledRun[Any], at: At) -> RecordLaw:
    """What a run loses about a record.

    Args:
        run: the run.
        at: a δ, a Rényi order, or None for ψ; None for a run whose weights are solved for is the loss of its target's
            notion.

    Guarantees: the outputs of the run with and without a record are as close as the loss says, in both directions.

    Raises:
        ExPost: where the losses move with a released value; `run.as_it_came_out` gives a reading.
        NoPureValue: for ψ of a mechanism without a pure ε.
        NotionAbsent: for a mechanism whose loss has no bound for many records at once.
        InvalidType: for another place than a δ or an order.
        InvalidValue: for records that are drawn together, several of a user, or in the place of others.
    """
    run.require_drawn_apart()
    match at, run.drawing:
        case None, ConstrainedRate() as rate:
            return _of_target(run, rate)
        case None, _:
            return _psi(run)
        case Delta(), _:
            return _epsilon_at(run, at)
        case Order(), _:
            return _tau_at(run, at)
    raise InvalidType("at", at, "a Delta, an Order, or None for ψ", "Write at=Delta(…) to read a number exactly")


def _of_target(run: SampledRun[Any], rate: ConstrainedRate) -> RecordLaw:
    cost = run.released_cost
    spent = rate.spent(cost).upper if cost.upper else Fraction(0)
    if open_parameters("mechanism", run.mechanism):  # what is lost moves with them, the target does not
        return RecordLaw(lambda _, features: np.full(len(features), rate.ceiling), spent)
    return RecordLaw(rate.losses, spent)


def _psi(run: SampledRun[Any]) -> RecordLaw:
    pure = pure_loss_of(run.mechanism, run.loss)
    _require_one(run)
    run.require_losses_fixed()
    together, times = on_one_sample(run.releases), Fraction(samples(run.releases))
    on_a_sample = pure if together == 1 else PureLoss(together * pure.epsilon)

    def losses(realisation: Realisation, features: Features) -> Floats:
        one = psi_upper(on_a_sample, realisation, features)
        return one if times == 1 else scaled(one, times)

    return RecordLaw(losses, run.released_cost.upper)


def _epsilon_at(run: SampledRun[Any], delta: Delta) -> RecordLaw:
    target = Enclosure.of(delta.value).lower_float  # ε falls with δ

    def together(pairs: BulkPairs, rate: Floats, steps: int) -> Floats:
        return pairs.epsilon(rate, steps, target)

    return RecordLaw(_by_pairs(run, together), run.released_cost.upper)


def _tau_at(run: SampledRun[Any], order: Order) -> RecordLaw:
    def together(pairs: BulkPairs, rate: Floats, steps: int) -> Floats:
        one = pairs.renyi(rate, order.value)
        return one if steps == 1 else np.nextafter(one * float(steps), np.inf, where=one > 0, out=np.zeros(len(one)))

    spent = RandomisedResponsePair(run.released_cost).renyi(order.value, Direction.REMOVE)
    return RecordLaw(_by_pairs(run, together), spent.upper)


def _by_pairs(run: SampledRun[Any], together: _Together) -> Losses:
    run.require_losses_fixed()
    if run.derived:
        raise InvalidValue(
            "relation",
            run.relation.name,
            "a run about one record that is added or removed",
            "What is lost about one of several records depends on the others: ask for an ε of all records",
        )
    loss = run.loss

    def losses(realisation: Realisation, features: Features) -> Floats:
        weights = np.where(realisation.probability > 0, realisation.weight, 1.0)

        def at(index: int) -> Mapping[Variable, Enclosure]:
            weight = Enclosure.of(float(weights[index]), precision=_PRECISION)
            return {**features.enclosures(index), W: weight}

        def read(root: Expression) -> Floats:
            known = {W: Rounded(weights, 0, EVERYWHERE), **features.rounded(root)}
            return upper(root, known, len(features), at)

        pairs = loss.bulk_pairs(read)
        if pairs is None:
            raise NotionAbsent(
                "mechanism",
                run.mechanism.about.name,
                "a mechanism whose loss has bounds for many records",
                "A family of a plugin's own has them where it states a pure loss",
            )
        match run.releases:
            case SampleOnce(steps):
                return together(pairs.repeated(steps), realisation.probability, 1)
            case ResampleEach(steps):
                return together(pairs, realisation.probability, steps)

    return losses


def _require_one(run: SampledRun[Any]) -> None:
    """Refuse ψ of several records, and of records that take the places of others."""
    if run.relation != ADD_REMOVE or run.derived:
        about_several = run.relation == ADD_REMOVE
        raise InvalidValue(
            "unit" if about_several else "relation",
            run.unit if about_several else run.relation.name,
            "a run about a record that is added or removed",
            "Theorem 6 needs it: ask for an ε of all records",
        )
