"""Results over some of the records of a run, which merge into the result over all of them.

A part knows its run by a digest of all that is declared, so that parts of different runs never merge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any, ClassVar, Generic, Protocol, Self, TypeAlias, TypeVar

from numpy.typing import NDArray

from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.private import Private
from ..accounting.stored import (
    Json,
    canonical,
    entries,
    guarantee_to_json,
    packed,
    protection_to_json,
    unpacked,
    whole_content,
)
from .declared import plugin_to_json
from .digests import domain_to_json
from .sampled import SampledRun

Packed: TypeAlias = tuple[Json, Mapping[str, NDArray[Any]]]
"""Numbers and text, and arrays."""


class Adds(Protocol):
    """What was computed from some of the data."""

    def __add__(self, later: Self, /) -> Self:
        """What is computed from these data and then those of `later`."""
        ...


class Mergeable(Adds, Protocol):
    """What was computed from some of the records."""

    def to_packed(self) -> Packed:
        """Return all of it."""
        ...

    def agrees(self, facts: Json, /) -> bool:
        """Whether it may be what parts with these facts hold."""
        ...

    @classmethod
    def from_packed(cls, numbers: Json, arrays: Mapping[str, NDArray[Any]], /) -> Self:
        """Make it from what `to_packed` gave.

        Raises:
            InvalidData, or whatever reading it raises: for anything else.
        """
        ...


P = TypeVar("P", bound=Adds)
S = TypeVar("S", bound=Mergeable)


class Part(Generic[S]):
    """What was computed from some of the records of a run. Private: its text shows nothing of it.

    `one + other` is the part over the records of `one` and then those of `other`; a part over no records changes
    nothing. Parts of different runs, or with different options, are refused.

    A part leaves a process by `to_bytes`, and so it is pickled: for places where the data's owner alone reads.
    """

    __slots__ = ("_facts", "_state")

    form: ClassVar[str]
    """Name and version of what `to_bytes` writes."""
    holds: ClassVar[type[Any]]
    """The type of its state."""
    facts: ClassVar[Mapping[str, Any]]
    """The types of what parts that are added have in common, by name."""

    def __init__(self, facts: Mapping[str, Any], state: Private[S]) -> None:
        self._facts = dict(facts)
        self._state = state

    def __add__(self, later: Self) -> Self:
        if type(later) is not type(self):
            raise InvalidType("part", later, f"a {type(self).__name__}", "Add parts of one kind")
        for name, own in self._facts.items():
            if later._facts[name] != own:
                shown = "two" if name == "run" else f"{own} and {later._facts[name]}"
                raise InvalidValue(name, shown, "the same in both parts", "Make all parts alike")
        return type(self)(self._facts, Private(self._state.reveal() + later._state.reveal()))

    def require_of(self, run: SampledRun[Any]) -> None:
        """Refuse another run than that of the part.

        Raises:
            InvalidType: for no run.
            InvalidValue: for another run.
        """
        if not isinstance(run, SampledRun):
            raise InvalidType("run", run, "the SampledRun of the parts")
        if run_digest(run) != self._facts["run"]:
            remedy = "Finish parts with the run, domain included, that they were made of"
            raise InvalidValue("run", str(run), "the run of the parts", remedy)

    def to_bytes(self) -> bytes:
        """All of the part, for its owner: it tells of single records. It names its form, which has a version.

        Guarantees: `from_bytes` gives a part that merges and finishes alike, bit for bit.
        """
        numbers, arrays = self._state.reveal().to_packed()
        return packed(self.form, {"facts": self._facts, "numbers": numbers}, arrays)

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """The part that `to_bytes` gave.

        Raises:
            InvalidType: for anything but bytes.
            InvalidValue: for damaged bytes, another kind of part, or another version.
        """
        known, arrays = unpacked(cls.form, content)
        with whole_content():
            facts, numbers = entries("content", known, "facts", "numbers")
            for fact, kind in zip(entries("facts", facts, *cls.facts), cls.facts.values(), strict=True):
                if isinstance(fact, bool) or not isinstance(fact, kind):
                    raise InvalidType("facts", type(fact), "what to_bytes gave")
            state = cls.holds.from_packed(numbers, arrays)
            again, held = state.to_packed()
            if canonical(again) != canonical(numbers) or _kinds(held) != _kinds(arrays):  # nothing is read over
                raise InvalidValue("content", "what was not written", "what to_bytes gave")
            if not state.agrees(facts):
                raise InvalidValue("content", "facts of another part", "what to_bytes gave")
        return cls(facts, Private(state))

    def __reduce__(self) -> tuple[Callable[[bytes], Self], tuple[bytes]]:
        return type(self).from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"


def _kinds(arrays: Mapping[str, NDArray[Any]]) -> dict[str, object]:
    return {name: (array.dtype, array.shape) for name, array in arrays.items()}


def merged(parts: Iterable[P]) -> P:
    """The sum of parts in order, at least one: what `functools.reduce(operator.add, parts)` gives, in less time.

    Raises:
        InvalidValue: for no part. Otherwise as adding two.
    """
    sums: list[tuple[int, P]] = []  # sums of 2^k parts, k falling: each part is copied once for each k
    for part in parts:
        level, total = 0, part
        while sums and sums[-1][0] == level:
            total = sums.pop()[1] + total
            level += 1
        sums.append((level, total))
    if not sums:
        raise InvalidValue("parts", "none", "at least one part", "A part over no records will do")
    *earlier, (_, total) = sums
    for _, part in reversed(earlier):
        total = part + total
    return total


def run_digest(run: SampledRun[Any]) -> str:
    """A digest of what is declared of a run: mechanism, sampler, releases, domain, what released values cost."""
    declared = {
        "mechanism": plugin_to_json(run.mechanism),
        "sampler": plugin_to_json(run.sampler),
        "releases": str(run.releases),
        "domain": domain_to_json(run.domain),
        **protection_to_json(run.relation, run.unit),
        "precision": run.precision,
        "costs": [guarantee_to_json(payment.cost) for payment in run.payments],
    }
    return sha256(canonical(declared).encode("ascii")).hexdigest()
