"""Batches of a fixed size, drawn without replacement."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.relations import REPLACE, ZERO_OUT
from ..accounting.sampling.batches import BatchRate, no_such_batch, rate_of_batches
from ..accounting.sampling.batches import FixedBatches as Scheme
from ..accounting.sampling.losses import Loss
from ..plugins.contract import CONTRACT_VERSION, About, named
from ..plugins.contract.optional import NOT_GIVEN, Choice, positive_if_given, require_one, whole_if_given
from ..plugins.contract.parameters import require_public


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class FixedBatches:
    """A batch of exactly B of n records, every such set of records with the same probability.

    Args:
        batch_size: B, a whole number from 1 to `data_size`, which is stated beside it.
        data_size: n, the public number of records, which the data must have.
        rate: in place of `batch_size`, the share B/n in (0, 1], of which n must be a whole multiple when drawn.

    Guarantees:
        They hold for records that are replaced by others, or zeroed out: both data sets have n records. One release of
        a Gaussian sum is accounted for exactly, several by a pair that dominates both orientations at each. The ε of
        Poisson sampling at the rate B/n does not hold for such batches.

    Raises:
        InvalidValue: outside these ranges, for released sizes, and for a mechanism of which only a Rényi curve is
            known.
    """

    about: ClassVar[About] = About(
        name="fixed-batches",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="Balle, Barthe, Gaboardi 2018, Theorem 2; docs/soundness_batches.md",
        relations=(REPLACE, ZERO_OUT),
    )

    batch_size: Choice = field(
        default=NOT_GIVEN, converter=whole_if_given, metadata={"help": "records in a batch, at least 1"}
    )
    data_size: Choice = field(
        default=NOT_GIVEN, converter=whole_if_given, metadata={"help": "the public number of records"}
    )
    share: Choice = field(
        default=NOT_GIVEN, alias="rate", converter=positive_if_given, metadata={"help": "batch_size over data_size"}
    )

    def __attrs_post_init__(self) -> None:
        require_public(batch_size=self.batch_size, data_size=self.data_size, rate=self.share)
        require_one(batch_size=self.batch_size, rate=self.share)
        if self.batch_size.value is not None:
            require_one(data_size=self.data_size)
        _ = self.batches

    @property
    def batches(self) -> Scheme:
        """The scheme that the batches are drawn by."""
        size = None if self.data_size.value is None else int(self.data_size.value)
        if self.share.value is not None:
            return Scheme(self.share.value, size)
        assert size is not None
        assert self.batch_size.value is not None
        batch = int(self.batch_size.value)
        if batch > size:
            raise no_such_batch(batch, size)
        return Scheme(Fraction(batch, size), size)

    def rate_for(self, loss: Loss) -> BatchRate:
        """How records are drawn for a mechanism with this loss."""
        return rate_of_batches(self.batches, loss)
