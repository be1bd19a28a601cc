"""Where a run stands, in one file that is replaced as a whole before noise is drawn.

The file says what was paid, never less: it is written, and forced to disk, after steps are paid and before the first of
them draws anything. A run that is killed goes back to the parameters in the file, and the steps that were paid since
are lost, not refunded: somebody may have seen their outputs. One that is interrupted leaves a file from which nothing
is lost. One run at a time uses the file: two that went on from it would draw twice what was paid once.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, final

import numpy as np
from attrs import field, frozen
from filelock import FileLock, Timeout

from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidValue
from ..accounting.exact import python_int
from ..accounting.provenance import Private
from ..durable.files import write_whole
from .gradients import Identity
from .history import History
from .sampling import FloatArray

_VERSION = 3
_NOTICE = "for the data's owner, not for publication: it holds bounds on the norms of single records"
_MODEL, _BOUNDS, _TEXT = "model.", "bounds", "run"


@final
@frozen(kw_only=True, eq=False)
class CheckpointState:
    """The state of a run at a checkpoint: all that it needs to go on. Private.

    Attributes:
        account: what `RunAccount.state` said.
        unused: how many of the steps paid have certainly drawn nothing.
        clip: C of the current epoch, or of the next one where it is known, exactly.
        count: the number of records.
        is_private: whether all coins of all parts of the run came from the operating system.
        words: how many random words the run has taken.
        identity: of what is trained.
        proposals: the options of the first stage, in words.
        history: so far.
        model: the state of the model.
        bounds: what the sampling remembers of each record.
    """

    account: dict[str, Any]
    unused: int
    clip: Fraction
    count: int
    is_private: bool
    words: int
    identity: Identity
    proposals: str
    history: History
    model: Mapping[str, FloatArray]
    bounds: FloatArray

    def content(self) -> bytes:
        """The file: an npz archive with all but the arrays as JSON."""
        text = {
            "version": _VERSION,
            "notice": _NOTICE,
            "account": self.account,
            "unused": self.unused,
            "clip": str(self.clip),
            "count": self.count,
            "is_private": self.is_private,
            "words": self.words,
            "model": self.identity.model,
            "optimiser": self.identity.optimiser,
            "data": self.identity.data.reveal(),
            "proposals": self.proposals,
            "history": self.history.as_json(),
        }
        encoded = np.frombuffer(json.dumps(text, allow_nan=False).encode(), dtype=np.uint8)
        arrays: dict[str, Any] = {_TEXT: encoded, _BOUNDS: self.bounds}
        arrays |= {f"{_MODEL}{name}": array for name, array in self.model.items()}
        stream = io.BytesIO()
        np.savez(stream, **arrays)
        return stream.getvalue()

    @classmethod
    def read(cls, content: bytes) -> CheckpointState:
        """Read a state from what `content` wrote.

        Raises:
            InvalidValue: for anything else.
        """
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as archive:
                text = json.loads(archive[_TEXT].tobytes())
                if text["version"] != _VERSION:
                    raise ValueError(f"It is of version {text['version']}")
                if "word" in text:  # no longer written
                    raise ValueError("A ledger paid for its run, which is not resumed")
                if not isinstance(text["is_private"], bool):
                    raise ValueError("It does not say whether the run is private")
                model = {name.removeprefix(_MODEL): archive[name] for name in archive.files if name.startswith(_MODEL)}
                return cls(
                    account=text["account"],
                    unused=int(text["unused"]),
                    clip=Fraction(text["clip"]),
                    count=int(text["count"]),
                    is_private=text["is_private"],
                    words=int(text["words"]),
                    identity=Identity(
                        model=str(text["model"]), optimiser=str(text["optimiser"]), data=Private(str(text["data"]))
                    ),
                    proposals=str(text["proposals"]),
                    history=History.from_json(text["history"]),
                    model=model,
                    bounds=archive[_BOUNDS],
                )
        except (KeyError, TypeError, ValueError, ArithmeticError, OSError, EOFError, zipfile.BadZipFile) as error:
            reason = str(error) or type(error).__name__
            raise InvalidValue("checkpoints", reason, f"a checkpoint of version {_VERSION}", "Begin anew") from None


def _every(_: object, attribute: Any, value: int) -> None:
    whole(attribute.name, value, 1)


@final
@frozen(kw_only=True)
class Checkpoints:
    """The file to which a run writes its state, and how often.

    Resume a run from the file it left, never from a copy of an older one: steps that were paid would be drawn a second
    time.

    Args:
        path: the file; its folder must exist. Readable by its owner alone. An empty file beside it, its name with
            `.lock`, is locked by the operating system for as long as a run uses it, and stays.
        every: number of steps that are paid at once, with one writing; a killed run loses at most as many. ≥ 1.
    """

    path: Path
    every: int = field(default=100, converter=python_int, validator=_every)

    @property
    def lock(self) -> Path:
        """The path of the empty file that is locked while a run writes checkpoints."""
        target = self.path.resolve()
        return target.with_name(f"{target.name}.lock")

    @property
    def begun(self) -> bool:
        """Whether there is a run to go on with."""
        return self.path.exists()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """The file is one run's until the context or the process ends, however that ends.

        Raises:
            InvalidValue: where another run has it, and where nothing can be locked in its folder.
        """
        admissible = "a file in an existing, writable folder"
        if not self.lock.parent.is_dir():  # a lock would make it
            raise InvalidValue("checkpoints", str(self.path), admissible, "Make the folder")
        lock = FileLock(self.lock, timeout=0, mode=0o600)
        try:
            lock.acquire()
        except Timeout:
            remedy = "Let that run finish, or end it and resume"
            raise InvalidValue("checkpoints", str(self.path), "a file that no other run is using", remedy) from None
        except OSError as error:
            raise InvalidValue("checkpoints", str(self.path), admissible, error.strerror or "") from None
        try:
            yield
        finally:
            lock.release()

    def write(self, state: CheckpointState) -> None:
        """Replace the file, forced to disk.

        Raises:
            InvalidValue: where it cannot be written.
        """
        write_whole(self.path, state.content(), secret=True)

    def read(self) -> CheckpointState:
        """Where the run stood.

        Raises:
            InvalidValue: for a missing or damaged file.
        """
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise InvalidValue("checkpoints", str(self.path), "a checkpoint", error.strerror or "") from None
        return CheckpointState.read(content)
