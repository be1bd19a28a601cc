# pyright: reportMissingImports=false
"""Records with labels, as files have them, for PyTorch models."""

from __future__ import annotations

from typing import final

import numpy as np
import torch
from attrs import field, frozen
from torch import Tensor

from ...accounting.errors import InvalidValue
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
        InvalidValue: for other numbers, and for data that are divided by something; a message to the data's curator.
    """

    data: LabelledData = field(repr=False)
    words: int

    def __attrs_post_init__(self) -> None:
        features = self.data.features
        if self.data.divide_by != 1:
            raise InvalidValue("divide_by", self.data.divide_by, "1 for numbers of words", "Leave it out")
        least, most = features.min(), features.max()
        if not (least >= 0 and most <= self.words):  # NaN is neither
            raise InvalidValue(
                "words", f"numbers of words from {least} to {most}", f"0 to {self.words}", "Is 0 none, 1 the first?"
            )
        if features.dtype.kind == "f" and not np.array_equal(features, np.floor(features)):
            raise InvalidValue("array", "fractions", "whole numbers of words", "Name the array of words")

    def __len__(self) -> int:
        return len(self.data)

    def rows(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Return some texts, (count, length), and their labels."""
        features, labels = self.data.rows(indices.numpy())
        return torch.from_numpy(features.astype(np.int64)), torch.from_numpy(labels.astype(np.int64))
