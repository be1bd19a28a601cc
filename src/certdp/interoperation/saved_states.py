"""Plain values in what `torch.save` writes: read without PyTorch, and without calling anything that the file names."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any, final

from ..accounting.errors import InvalidValue

_LONGEST = 64 * 2**20
_PLAIN = {("collections", "OrderedDict"): OrderedDict}


@final
class Unread:
    """What stands for an object that is not read, such as a tensor: it takes what the file does to it."""

    def __init__(self, *_: object) -> None: ...

    def __setstate__(self, state: object) -> None: ...

    def __setitem__(self, key: object, value: object) -> None: ...

    def append(self, value: object) -> None:
        """Take a single item."""

    def extend(self, values: object) -> None:
        """Take several items."""


@final
class _Reader(pickle._Unpickler):  # the one in C takes memory for any place that a file counts to
    def find_class(self, module: str, name: str) -> Any:
        return _PLAIN.get((module, name), Unread)

    def persistent_load(self, pid: object) -> Unread:  # the numbers of a tensor
        return Unread()


def saved_value(path: Path, content: bytes) -> object:
    """What was saved: mappings, lists, numbers and text as they were, anything else as `Unread`.

    Args:
        path: of the file, for what an error says.
        content: its bytes; it is not opened again, so that what is read is what its digest is of.

    Raises:
        InvalidValue: for a file that `torch.save` did not write, and for more than 64 MiB beside its tensors.
    """
    remedy = "Write the accountant's state_dict() as JSON"
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            (entry,) = [one for one in archive.infolist() if one.filename.rpartition("/")[2] == "data.pkl"]
            if entry.file_size > _LONGEST:
                raise InvalidValue("file", str(path), f"at most {_LONGEST:,} bytes beside its tensors", remedy)
            pickled = archive.read(entry)
        return _Reader(io.BytesIO(pickled)).load()
    except InvalidValue:
        raise
    except Exception as error:  # whatever a file of other bytes makes of these formats
        raise InvalidValue(
            "file", str(path), "a file of torch.save", f"{type(error).__name__}: {str(error)[:80]}. {remedy}"
        ) from None
