"""What the plugins of a run declare: the loss of a record, the rate, how records are drawn."""

from __future__ import annotations

from typing import Any

from ..accounting.derivation import Derivation
from ..accounting.errors import CertdpError, InvalidType, InvalidValue
from ..accounting.sampling.drawing import Rate, StatedRate
from ..accounting.sampling.every_value import ExPost
from ..accounting.sampling.losses import Loss, PureLoss
from ..accounting.sampling.rate import SamplingRate
from ..plugins.contract import (
    AllocatingSampler,
    AnySampler,
    KeySampler,
    LossSampler,
    Mechanism,
    Sampler,
    Sanitiser,
    StratifyingSampler,
    declared_for_every_value,
    open_parameters,
    stated,
)
from ..verification.certificates.plugin_statements import PluginStatement


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


def pure_loss_of(mechanism: Mechanism, loss: Loss) -> PureLoss:
    """The pure ε that follows from a mechanism's loss.

    Raises:
        NoPureValue: where none does.
    """
    if loss.pure is None:
        raise NoPureValue(
            f"mechanism {mechanism.about.name} has no pure ε: its loss is a {type(loss).__name__}. State δ or "
            "a Rényi order"
        )
    return loss.pure


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
    for kind, run in ((AllocatingSampler, "an AllocatedRun"), (StratifyingSampler, "a StratifiedRun")):
        if isinstance(sampler, kind):
            raise InvalidValue(
                "sampler",
                sampler.about.name,
                "a sampler that draws each record apart, at one stated rate",
                f"It is accounted for by {run}, and by the commands epsilon and delta",
            )
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


def premises_of(
    mechanism: Mechanism | Sanitiser, sampler: AnySampler | AllocatingSampler | StratifyingSampler | KeySampler
) -> list[Derivation]:
    """The declarations that what is said of a run rests on.

    Raises:
        InvalidValue: for heuristic evidence.
    """
    roles = {"mechanism": mechanism, "sampler": sampler}
    return [plugin.about.declaration(role, stated(plugin)) for role, plugin in roles.items()]


def statement_of(
    plugin: Mechanism | AnySampler | AllocatingSampler | StratifyingSampler | Sanitiser | KeySampler,
) -> PluginStatement:
    """What certificates and reports say about a plugin.

    Raises:
        InvalidType: for anything else.
    """
    samplers = Sampler | LossSampler | AllocatingSampler | StratifyingSampler | KeySampler
    if not isinstance(plugin, Mechanism | Sanitiser | samplers):
        raise InvalidType("plugin", plugin, "a mechanism or a sampler")
    return PluginStatement.of(plugin)


def plugin_to_json(plugin: Mechanism | AnySampler) -> dict[str, Any]:
    """Name, version and options of a mechanism or sampler, as statements write them."""
    return {"name": plugin.about.name, "version": plugin.about.version, "options": stated(plugin)}
