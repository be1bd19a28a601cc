"""What other tools write about a run: events of dp_accounting, states of accountants of Opacus and Flower."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import Any, final

from attrs import field, frozen

from ..accounting.derivation import CLIPPED_RECORDS, Assumption
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.relations import ADD_REMOVE, Change
from ..runs.run import Run
from .dp_events import event_of_tree, tree_of_json
from .events import MOST_RELEASES, Event
from .flower import event_of_state, is_flower_state
from .opacus import CertifiedAccountant, Steps
from .saved_states import saved_value

_LONGEST = 256 * 2**20
_LARGEST = 2**53
_STATE = "privacy_accountant_state_dict"  # in the checkpoints of Opacus's PrivacyEngine
_REMEDY = "Write what state_dict() of the accountant gives"
_ZIP = b"PK\x03\x04"  # what torch.save writes

_OF_CLIENTS = (
    CLIPPED_RECORDS,
    Assumption("who a record is", "the clients: each record is all that one client sends"),
    Assumption(
        "clients",
        "one more or fewer changes nothing about which others take part; where another takes its place, as in samples "
        "of a fixed size, the sum moves twice as far: ask about replacing one",
    ),
)


class Source(Enum):
    """Which tool describes a run."""

    DP_ACCOUNTING = "dp_accounting"
    OPACUS = "Opacus"
    FLOWER = "Flower"


@final
@frozen(kw_only=True)
class PeerRun:
    """A run that a file of another tool describes.

    Attributes:
        source: which tool.
        event: the releases.
        assumptions: what is taken from the file and the tool, beside what the event assumes.
        digest: SHA-256 of the file.
    """

    source: Source
    event: Event
    assumptions: tuple[Assumption, ...]
    digest: str
    _run: Callable[[], Run[Any]] | None = field(default=None, alias="run", repr=False)

    def run(self, relation: Change = ADD_REMOVE) -> Run[Any]:
        """The run to ask ε and δ of.

        Raises:
            InvalidValue: under a relation that an event of the tree is not understood under.
        """
        return self.event.run(relation) if self._run is None or relation != ADD_REMOVE else self._run()


def read_peer_file(path: str | PathLike[str]) -> PeerRun:
    """Read what another tool wrote about a run.

    Args:
        path: JSON of a dp_accounting event (see `event_from_json`), JSON of the `state_dict()` of an Opacus accountant
            of any mechanism or of a Flower accountant, or what `torch.save` or `PrivacyEngine.save_checkpoint` made
            of one of Opacus. Nothing that a file names is imported or called.

    Raises:
        InvalidValue: for a file that cannot be read, is none of these, or describes what is not covered.
    """
    path = Path(path)
    try:
        if path.stat().st_size > _LONGEST:
            raise InvalidValue("file", str(path), f"at most {_LONGEST:,} bytes", "Write the accountant's state alone")
        content = path.read_bytes()
    except OSError as error:
        raise InvalidValue("file", str(path), "a readable file", error.strerror or str(error)) from None
    digest = hashlib.sha256(content).hexdigest()
    is_saved = content.startswith(_ZIP)
    tree = saved_value(path, content) if is_saved else tree_of_json(content)
    state = _state_of(tree)
    if state is None and is_saved:
        raise InvalidValue("file", str(path), f"the state of an Opacus accountant, or a checkpoint with {_STATE}")
    told = described_by(digest)
    if state is not None:
        return _of_opacus(state, told, digest)
    if isinstance(tree, dict) and is_flower_state(tree):
        return PeerRun(
            source=Source.FLOWER, event=event_of_state(tree), assumptions=(told, *_OF_CLIENTS), digest=digest
        )
    return PeerRun(source=Source.DP_ACCOUNTING, event=event_of_tree(tree), assumptions=(told,), digest=digest)


def described_by(digest: str) -> Assumption:
    """That a file of this SHA-256 says what happened."""
    return Assumption(
        "described by a file",
        f"sha256:{digest}: these releases and no other, with parameters fixed before the data were seen",
    )


def _state_of(tree: object) -> Mapping[str, Any] | None:
    match tree:
        case {"history": history, "mechanism": mechanism, **further}:
            if further:
                raise InvalidValue("file", f"{len(further)} keys beside", "history and mechanism alone", _REMEDY)
            return {"history": history, "mechanism": mechanism}
        case {"privacy_accountant_state_dict": dict() as state}:
            return _state_of(state)
    return None


def _of_opacus(state: Mapping[str, Any], told: Assumption, digest: str) -> PeerRun:
    if not isinstance(state["mechanism"], str):
        raise InvalidType("mechanism", type(state["mechanism"]), "the name of a mechanism of Opacus", _REMEDY)
    accountant = CertifiedAccountant()
    accountant.load_state_dict({"history": _steps(state["history"]), "mechanism": CertifiedAccountant.mechanism()})
    beside = (
        Assumption("batches", "each record enters each batch independently (poisson_sampling=True)"),
        CLIPPED_RECORDS,
        Assumption("accumulation", "noise is added once per batch: a record is in no two batches of one step"),
    )
    return PeerRun(
        source=Source.OPACUS,
        event=accountant.event,
        assumptions=(told, *beside),
        digest=digest,
        run=lambda: accountant.run,
    )


def _steps(history: object) -> list[Steps]:
    """The steps of a history; of anything else nothing but its type is in what an error says."""
    if not isinstance(history, list | tuple):
        raise InvalidType("history", type(history), "a list of (noise multiplier, sample rate, steps)", _REMEDY)
    return [_step(f"history[{position}]", entry) for position, entry in enumerate(history)]


def _step(place: str, entry: object) -> Steps:
    match entry:
        case [noise, rate, steps]:
            if type(steps) is not int or not 1 <= steps <= MOST_RELEASES:
                raise InvalidValue(f"{place}, steps", _text_of(steps), f"a whole number from 1 to {MOST_RELEASES}")
            return _number(f"{place}, noise multiplier", noise), _number(f"{place}, sample rate", rate), steps
    raise InvalidType(place, type(entry), "a list of three: noise multiplier, sample rate, steps", _REMEDY)


def _number(place: str, value: object) -> float:
    if type(value) is float or (type(value) is int and abs(value) <= _LARGEST):
        return float(value)
    raise InvalidValue(place, _text_of(value), "a binary64 number", _REMEDY)


def _text_of(value: object) -> str:
    """A number of a few digits, or the type of anything else."""
    return str(value) if type(value) is float or (type(value) is int and abs(value) <= _LARGEST) else str(type(value))
