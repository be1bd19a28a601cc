"""Requests: what is asked of a ledger under an id, how far it has come, and what is answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from typing import Any, final

from attrs import field, frozen

from ..accounting.display import Displayed
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.guarantees import Guarantee, require
from ..accounting.stored import Json, canonical, guarantee_to_json, parsed, protection_to_json
from ..durable.files import digest_of

_LONGEST = 200


class RequestState(Enum):
    """How far a request has come. Only a reservation that was not begun expires; nothing else is given back."""

    RESERVED = "reserved"
    BEGUN = "begun"
    COMMITTED = "committed"
    EXPIRED = "expired"


NEXT: Mapping[RequestState | None, frozenset[RequestState]] = {
    None: frozenset({RequestState.RESERVED, RequestState.BEGUN}),
    RequestState.RESERVED: frozenset({RequestState.BEGUN, RequestState.EXPIRED}),
    RequestState.BEGUN: frozenset({RequestState.COMMITTED}),
    RequestState.COMMITTED: frozenset(),
    RequestState.EXPIRED: frozenset(),
}
"""What a request in a state may become; None stands for one that was never asked for."""


class Mode(Enum):
    """Who draws: whoever pays, at most once and elsewhere; or the ledger's `release`, which keeps the output."""

    PAY = "pay"
    RELEASE = "release"


def _name(_: object, attribute: Any, value: Any) -> None:
    if not isinstance(value, str):
        raise InvalidType(attribute.name, value, "text")
    if not 0 < len(value) <= _LONGEST or not value.isprintable():
        raise InvalidValue(attribute.name, value, f"text of 1 to {_LONGEST} printable characters")


def _sorted(uses: Iterable[str]) -> tuple[str, ...]:
    names = tuple(uses)
    for name in names:
        if not isinstance(name, str):
            raise InvalidType("uses", name, "names of randomness, as text")
    return tuple(sorted(set(names)))


@final
@frozen(kw_only=True)
class Terms:
    """What a request asks for: under one id always the same.

    Attributes:
        request: the id.
        data: the data set.
        mode: who draws.
        cost: what is to be paid.
        plan: digest of the plan of what is released, or None.
        certificate: digest of its certificate, or None.
        uses: names of the randomness that the release uses up, which no other release may use.
    """

    request: str = field(validator=_name)
    data: str = field(validator=_name)
    mode: Mode
    cost: Guarantee[Any, Any, Any]
    plan: str | None
    certificate: str | None
    uses: tuple[str, ...] = field(default=(), converter=_sorted)

    def __attrs_post_init__(self) -> None:
        for name in self.uses:
            _name(None, _Named("uses"), name)
        require("cost", self.cost, Guarantee, "Pay with the guarantee of what is released")
        if self.plan is not None:
            _name(None, _Named("plan"), self.plan)

    @property
    def named(self) -> Json:
        """What every entry about the request names."""
        return {
            "request": self.request,
            "data": self.data,
            "mode": self.mode.value,
            **protection_to_json(self.cost.relation, self.cost.unit),
            "plan": self.plan,
            "certificate": self.certificate,
            **({"uses": list(self.uses)} if self.uses else {}),
        }

    @property
    def as_json(self) -> Json:
        """The terms in JSON's types."""
        return {**self.named, "cost": parsed(guarantee_to_json(self.cost), "cost")}

    @property
    def digest(self) -> str:
        """SHA-256 of the terms: equal for equal terms alone."""
        return digest_of(canonical(self.as_json).encode("ascii"))


@frozen
class _Named:
    name: str


@final
@frozen(kw_only=True, repr=False)
class Payment(Displayed):
    """What a ledger says of a request.

    Attributes:
        request: its id.
        state: how far it has come.
        new: whether this call brought it there. Whoever finds it False draws nothing: that was done, or was lost.
        entry: the number of the log's entry that says so.
        time: when that was written.
        attempt: a word that the one who began it knows, and has to say to hand in the output.
    """

    request: str
    state: RequestState
    new: bool
    entry: int
    time: datetime
    attempt: str = field(repr=False)

    def __str__(self) -> str:
        when = "" if self.new else ", by an earlier call"
        return f"request {self.request}: {self.state.value}{when} (entry {self.entry})"


@final
@frozen(kw_only=True, repr=False)
class Output(Displayed):
    """What was released under an id.

    Attributes:
        request: the id.
        content: the bytes; the same for every call with that id.
        digest: SHA-256 of them, as the log states it.
        new: whether this call drew it.
    """

    request: str
    content: bytes = field(repr=False)
    digest: str
    new: bool

    def __str__(self) -> str:
        return (
            f"request {self.request}: {len(self.content):,} bytes, {self.digest}{'' if self.new else ', drawn before'}"
        )
