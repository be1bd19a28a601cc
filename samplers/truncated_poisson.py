"""Poisson samples that are cut down to a largest size, as batches of a fixed shape need."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.provenance import Declared, Public
from ..accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT
from ..accounting.sampling.batches import BatchRate, rate_of_batches
from ..accounting.sampling.batches import TruncatedPoisson as Scheme
from ..accounting.sampling.losses import Loss
from ..plugins.contract import CONTRACT_VERSION, About, Real, flag, named, probability, whole
from ..plugins.contract.parameters import require_public


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class TruncatedPoisson:
    """Every record is drawn independently; of more than B drawn, B are kept, each set of them equally likely.

    Args:
        rate: the probability of drawing a record, in (0, 1]; the nearest number in binary64 is drawn and accounted for.
        batch_size: B, the most records that are kept: a whole number from 1 to `data_size`.
        data_size: n, the public number of records. Under add/remove one of them may be missing.
        at_most: whether `data_size` is only an upper bound of that number: then the guarantee is the worst up to it.

    Guarantees:
        Whether a batch is full is treated as public chance; in a full one a record displaces another one. Empty batches
        occur and are released from.

    Raises:
        InvalidValue: outside these ranges, for released sizes, and for a mechanism of which only a Rényi curve is
            known.
    """

    about: ClassVar[About] = About(
        name="truncated-poisson",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="docs/soundness_batches.md",
        relations=(ADD_REMOVE, REPLACE, ZERO_OUT),
    )

    probability: Real = field(
        alias="rate", converter=probability, metadata={"help": "probability of drawing a record, in (0, 1]"}
    )
    batch_size: Real = field(converter=whole, metadata={"help": "the most records kept, at least 1"})
    data_size: Real = field(converter=whole, metadata={"help": "the public number of records"})
    at_most: Declared[bool] = field(
        default=Public(False), converter=flag, metadata={"help": "whether data_size is only an upper bound"}
    )

    def __attrs_post_init__(self) -> None:
        require_public(
            rate=self.probability, batch_size=self.batch_size, data_size=self.data_size, at_most=self.at_most
        )
        _ = self.batches

    @property
    def batches(self) -> Scheme:
        """The scheme that the batches are drawn by."""
        return Scheme(
            rate=Fraction(float(self.probability.value)),
            batch_size=int(self.batch_size.value),
            data_size=int(self.data_size.value),
            at_most=self.at_most.value,
        )

    def rate_for(self, loss: Loss) -> BatchRate:
        """How records are drawn for a mechanism with this loss."""
        return rate_of_batches(self.batches, loss)
