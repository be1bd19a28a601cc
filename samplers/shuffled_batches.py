"""Batches of a data set that is shuffled anew in every epoch, as most training loops draw them."""

from __future__ import annotations

from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.relations import REPLACE, ZERO_OUT
from ..accounting.sampling.epochs import ShuffledBatches as Epoch
from ..plugins.contract import CONTRACT_VERSION, About, Real, named, whole
from ..plugins.contract.parameters import require_public


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class ShuffledBatches:
    """Every record in an order that is drawn uniformly for each epoch, cut into batches of one size.

    Args:
        batch_size: B, of which `data_size` is a whole multiple.
        data_size: n, the public number of records, which the data must have.

    Guarantees:
        They hold for records that are zeroed out, or replaced by others. No amplification is proven for such batches:
        from above an epoch costs what one release costs, and several compose. From below two data sets are
        known whose ε lies above that of Poisson sampling where there is little noise: that one is never stated.

    Raises:
        InvalidValue: outside these ranges, and for released sizes.
    """

    about: ClassVar[About] = About(
        name="shuffled-batches",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="Chua et al. 2024 (arXiv:2403.17673); docs/soundness_shuffled_batches.md",
        relations=(ZERO_OUT, REPLACE),
    )

    batch_size: Real = field(converter=whole, metadata={"help": "records in a batch, of which data_size is a multiple"})
    data_size: Real = field(converter=whole, metadata={"help": "the public number of records"})

    def __attrs_post_init__(self) -> None:
        require_public(batch_size=self.batch_size, data_size=self.data_size)
        _ = self.epoch

    @property
    def epoch(self) -> Epoch:
        """The batches of an epoch."""
        return Epoch(batch_size=int(self.batch_size.value), data_size=int(self.data_size.value))
