"""Records with labels as the tables of DPIS take them: a file's, or synthetic ones in their place."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, final

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from ..accounting.errors import InvalidValue, blamed_on
from ..accounting.exact import exact
from ..data import Reading
from ..data.reading import refuse_without_file
from ..dpis.models import LabelledData
from ..dpis.models.files import LabelledReading, names_in, read_labelled

WORDS = 2000
"""How many of the most common words of a text count; words are numbered from 1 by their frequency."""
STAND_IN_RECORDS, STAND_IN_COLUMNS, STAND_IN_CLASSES = 2000, 20, 10

_SPREAD = 1.5  # of the records of a class, relative to the distance of its centre from 0


@final
@frozen(kw_only=True, eq=False)
class TrainingData:
    """Data of an experiment; private where they are somebody's.

    Attributes:
        name: of the data.
        features: what they are, in words.
        train: the records to train on.
        test: the others.
        words: where features are numbers of words in their order, how many words there are; else none.
    """

    name: str
    features: str
    words: int | None = None
    train: LabelledData = field(repr=False)
    test: LabelledData = field(repr=False)

    @property
    def classes(self) -> int:
        """The number of classes, at least 2."""
        return max(2, self.train.classes, self.test.classes)

    def first(self, records: int) -> TrainingData:
        """Return these data with the first training records, at most so many, and all test records."""
        kept = LabelledData(
            features=self.train.features[:records], labels=self.train.labels[:records], divide_by=self.train.divide_by
        )
        return evolve(self, train=kept)

    @property
    def digest(self) -> str:
        """Tells these data from others, so that a run on others is not taken for one on these."""
        summed = hashlib.sha256()
        for part in (self.train, self.test):
            summed.update(repr((part.features.shape, str(part.features.dtype), part.divide_by)).encode())
            summed.update(np.ascontiguousarray(part.features).tobytes())
            summed.update(part.labels.astype(np.int64).tobytes())
        return summed.hexdigest()[:16]


def read_training_data(path: Path, reading: Reading, *, in_order: bool = False) -> TrainingData:
    """The records of a file with labels and test records.

    Archives hold X_train, y_train, X_test and y_test; or X, label and is_test, and where they hold vocab too, the rows
    of X are numbers of words, 0 for none, and features say which of the most common words occur, unless they are to
    stay in order. Tables have the columns label and is_test.

    Raises:
        InvalidValue: as `read_labelled`, and for options that do not apply.
    """
    for name, value, unused in (("array", reading.array, None), ("transpose", reading.transpose, False)):
        if value != unused:
            raise InvalidValue(name, str(value), "nothing, for training data", "Archives have arrays of fixed names")
    names = set(names_in(path))
    divide_by = float(exact(reading.divide_by, parameter="divide-by"))
    if names >= {"X_train", "y_train", "X_test", "y_test"}:
        how = LabelledReading(target="y_train", array="X_train", test="X_test", divide_by=divide_by)
    elif names >= {"label", "is_test"}:
        how = LabelledReading(target="label", test="is_test", divide_by=divide_by)
    else:
        admissible = "X_train, y_train, X_test and y_test, or label and is_test; in archives then X too"
        raise InvalidValue("data", f"{path}, with {', '.join(sorted(names))}", admissible, "Rename what it holds")
    with blamed_on(array="data", target="data", test="data", labels="data"):
        split = read_labelled(path, how)
    if split.test is None:
        raise InvalidValue("data", str(path), "records to test on", "Add them")
    train, test, features = split.train, split.test, "as in the file"
    words = None
    if "vocab" in names and in_order:
        numbers = np.asarray(train.features), np.asarray(test.features)
        words, features = int(max(part.max() for part in numbers)), "numbers of words in their order"
    elif "vocab" in names:
        train, test = _bag(train), _bag(test)
        features = f"which of the {WORDS} most common words occur, over the root of the words of a record"
    if words is None:
        train, test = _converted(train), _converted(test)
    return TrainingData(name=path.name.partition(".")[0], features=features, train=train, test=test, words=words)


def stand_in(reading: Reading, seed: int) -> TrainingData:
    """Synthetic clusters, one for each class.

    Raises:
        InvalidValue: for options that say how to read a file.
    """
    refuse_without_file(reading)
    generator = np.random.default_rng(seed)
    centres = generator.standard_normal((STAND_IN_CLASSES, STAND_IN_COLUMNS))

    def drawn(count: int) -> LabelledData:
        labels = generator.integers(STAND_IN_CLASSES, size=count)
        noise = generator.standard_normal((count, STAND_IN_COLUMNS))
        return LabelledData(features=centres[labels] + _SPREAD * noise, labels=labels)

    train = drawn(STAND_IN_RECORDS)
    return TrainingData(
        name="stand-in",
        features=f"{STAND_IN_CLASSES} normal clusters in {STAND_IN_COLUMNS} columns",
        train=train,
        test=drawn(STAND_IN_RECORDS // 2),
    )


def _converted(data: LabelledData) -> LabelledData:
    """Return the records as binary64, divided: training reads each of them hundreds of times."""
    features, labels = data.rows(np.arange(len(data)))
    return LabelledData(features=features, labels=labels)


def _bag(data: LabelledData) -> LabelledData:
    """Return which of the most common words each record has."""
    words = np.asarray(data.features)
    if words.dtype.kind not in "iu" or int(words.min()) < 0:
        raise InvalidValue("data", f"numbers of words of type {words.dtype}", "whole numbers ≥ 0")
    present: NDArray[Any] = np.zeros((len(words), WORDS), dtype=np.uint8)
    rows, places = np.nonzero((words >= 1) & (words <= WORDS))
    present[rows, words[rows, places].astype(np.intp) - 1] = 1
    return LabelledData(features=present, labels=data.labels, divide_by=data.divide_by * float(np.sqrt(words.shape[1])))
