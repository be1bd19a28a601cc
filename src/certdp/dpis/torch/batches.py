# pyright: reportMissingImports=false
"""Loaders for training loops of one's own: batches drawn as a run's account says, each of them once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

from numpy.typing import ArrayLike
from torch import Tensor
from torch.utils._pytree import tree_map
from torch.utils.data import DataLoader, Sampler, default_collate

from ...accounting.errors import InvalidType, InvalidValue
from ...plugins.contract import Coins
from ...runs.allocated import AllocatedRun
from ...runs.places import drawn_places
from ...runs.sampled import SampledRun
from ...runs.stratified import StratifiedRun


@final
class RunBatches(Sampler[list[int]]):
    """The batches of a run, as numbers of records: one for each of its releases, which may be empty.

    Args:
        run: what is accounted for.
        size: the number of records.
        labels: (n,) the public label of each record, where strata are told apart by labels.
        coins: the operating system's unless given; batches of seeded coins are not private.

    Raises:
        InvalidType, InvalidValue: for what the run does not cover: another number of records than declared, rates
            that depend on records, weights; and when it is gone through a second time.
    """

    def __init__(
        self,
        run: SampledRun[Any] | AllocatedRun | StratifiedRun,
        size: int,
        *,
        labels: ArrayLike | None = None,
        coins: Coins | None = None,
    ) -> None:
        self._batches = drawn_places(run, size, labels=labels, coins=coins)

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[list[int]]:
        """The batches, all of them once; drawing them a second time is refused."""
        return (places.tolist() for places in self._batches)


def run_loader(
    run: SampledRun[Any] | AllocatedRun | StratifiedRun,
    dataset: Any,
    *,
    labels: ArrayLike | None = None,
    coins: Coins | None = None,
    collate_fn: Callable[[list[Any]], Any] | None = None,
    **options: Any,
) -> DataLoader[Any]:
    """A DataLoader over the batches of a run, all of its epochs in one pass.

    What is proven is about noisy sums over these batches, each record clipped and each batch used once, divided by
    public numbers alone: not by the number of records drawn.

    Args:
        run: what is accounted for.
        dataset: map-style, with a length.
        labels: (n,) the public label of each record, where strata are told apart by labels.
        coins: the operating system's unless given; batches of seeded coins are not private.
        collate_fn: makes tensors of samples, records first; PyTorch's own unless given. Empty batches are tensors of
            the same form with no records, for which the first record is read.
        options: others of `torch.utils.data.DataLoader`, such as num_workers.

    Raises:
        InvalidType, InvalidValue: as `RunBatches`, for options that would draw otherwise, and for samples that are
            not made of tensors.
    """
    for name in ("batch_size", "shuffle", "sampler", "batch_sampler", "drop_last"):
        if name in options:
            raise InvalidValue(name, options[name], "nothing: the run says how batches are drawn", "Leave it out")
    batches = RunBatches(run, len(dataset), labels=labels, coins=coins)
    collate = _Collate(default_collate if collate_fn is None else collate_fn, dataset)
    return DataLoader(dataset, batch_sampler=batches, collate_fn=collate, **options)


class _Collate:
    """Makes a batch of samples; of none, one of the same form without records."""

    def __init__(self, collate: Callable[[list[Any]], Any], dataset: Any) -> None:
        self.collate = collate
        self.dataset = dataset

    def __call__(self, samples: Sequence[Any]) -> Any:
        if samples:
            return self.collate(list(samples))
        return tree_map(_without_records, self.collate([self.dataset[0]]))


def _without_records(part: Any) -> Tensor:
    if not isinstance(part, Tensor) or part.dim() < 1 or len(part) != 1:
        raise InvalidType("collate_fn", part, "tensors whose first dimension counts records", "An empty batch needs it")
    return part[:0]
