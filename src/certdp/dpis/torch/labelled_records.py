# pyright: reportMissingImports=false
"""Records with labels, as files have them, for PyTorch models."""

from __future__ import annotations

from typing import Any, NoReturn, final

import numpy as np
import torch
from attrs import field, frozen
from numpy.typing import NDArray
from torch import Tensor

from ...accounting.errors import InvalidValue
from ...accounting.private import InvalidData, Private
from ..models.images import ImageShape
from ..models.labelled import LabelledData


@final
@frozen(eq=False)
class ImageRecords:
    """Images, as numbers of the default type of PyTorch.

    Args:
        data: one image in each row.
        shape: of an image.

    Raises:
        InvalidValue: for rows of another number of entries.
    """

    data: LabelledData = field(repr=False)
    shape: ImageShape

    def __attrs_post_init__(self) -> None:
        self.shape.require(self.data.columns)

    def __len__(self) -> int:
        return len(self.data)

    def rows(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Return some images, (count, channels, height, width), and their labels."""
        features, labels = self.data.rows(indices.numpy())
        images = torch.from_numpy(features).to(torch.get_default_dtype())
        form = (len(indices), self.shape.channels, self.shape.height, self.shape.width)
        return images.reshape(form), torch.from_numpy(labels.astype(np.int64))


@final
@frozen(eq=False)
class WordRecords:
    """Texts: rows of numbers of words, 0 where there is none.

    Args:
        data: one text in each row.
        words: words are numbered from 1 to this public number.

    Raises:
        InvalidValue: for data that are divided by something.
        InvalidData: for other numbers, by the place of the first; a message to the data's curator.
    """

    data: LabelledData = field(repr=False)
    words: int

    def __attrs_post_init__(self) -> None:
        features = self.data.features
        if self.data.divide_by != 1:
            raise InvalidValue("divide_by", self.data.divide_by, "1 for numbers of words", "Leave it out")
        outside = ~((features >= 0) & (features <= self.words))  # NaN is
        if outside.any():
            _refuse("words", outside, features, f"0 to {self.words}", "Is 0 none, 1 the first?")
        if features.dtype.kind == "f" and (fractions := features != np.floor(features)).any():
            _refuse("array", fractions, features, "whole numbers of words", "Name the array of words")

    def __len__(self) -> int:
        return len(self.data)

    def rows(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Return some texts, (count, length), and their labels."""
        features, labels = self.data.rows(indices.numpy())
        return torch.from_numpy(features.astype(np.int64)), torch.from_numpy(labels.astype(np.int64))


def _refuse(parameter: str, wrong: NDArray[np.bool_], features: NDArray[Any], admissible: str, remedy: str) -> NoReturn:
    """Refuse the first entry that is wrong, by its place."""
    row, column = (int(position) for position in np.argwhere(wrong)[0])
    place = f"another number in row {row}, column {column}, counted from 0"
    raise InvalidData(parameter, place, admissible, remedy, found=Private(features[row, column].item()))
