"""`--ledger` of the commands that release: paid before anything is drawn, and asked again answered as it stands.

The ledger keeps the digests of the files that were released, which it has before these appear. Whoever asks again
with the same id is told that they stand, where they do; else that they are lost. Nothing is drawn a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, final

import typer
from attrs import frozen

from ..accounting.errors import InvalidValue
from ..accounting.filters import BudgetExceeded
from ..accounting.stored import canonical, parsed
from ..durable.files import Publication, digest_of
from ..ledger import Ledger, LedgerRequest, OutputLost, ReleasedBefore, UsedBefore
from .answer import Answer
from .ledger.options import Anchor, By, left_as_json
from .options import refuse_unused
from .output import FAILED
from .page import Page


@frozen(kw_only=True)
class Paid(Answer):
    """The answer of a command whose release was paid from a ledger.

    Attributes:
        answer: what was released.
        request: what it was paid with.
    """

    answer: Answer
    request: LedgerRequest

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        return {**self.answer.as_json(), "ledger": {**_named(self.request), "outcome": "paid"}}

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        self.answer.show(page)
        page.blank()
        page.copy(f"paid from {self.request.ledger.place}, request {self.request.request}")
        _show_left(page, self.request)

    @property
    def exit_code(self) -> int:
        """The exit code of what was released."""
        return self.answer.exit_code


class Outcome(Enum):
    """Why nothing was drawn."""

    DONE = "done"
    LOST = "lost"
    REFUSED = "refused"


@frozen(kw_only=True)
class NothingDrawn(Answer):
    """What stands of a request under which nothing was drawn now.

    Attributes:
        request: what was asked for.
        outcome: done where all that this call would write stands as an earlier one released it, lost where it does
            not, or was never handed in; refused where the budget does not cover the release, or another release has
            used its draws.
        reason: the same in words.
        files: where the files stand, by their names.
    """

    request: LedgerRequest
    outcome: Outcome
    reason: str
    files: Mapping[str, Path]

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        files = {name: str(path) for name, path in self.files.items()}
        return {
            "ledger": {**_named(self.request), "outcome": self.outcome.value},
            "reason": self.reason,
            "files": files,
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        page.bold(f"nothing drawn, {self.outcome.value}", f": {self.reason}", 0)
        page.files(self.files)
        _show_left(page, self.request)

    @property
    def exit_code(self) -> int:
        """0 where everything stands, else 1."""
        return 0 if self.outcome is Outcome.DONE else FAILED


@final
@frozen(kw_only=True)
class Payer:
    """What one call of a command pays with, if with anything."""

    request: LedgerRequest | None

    @property
    def is_done(self) -> bool:
        """Whether the files of the request were handed in: nothing is then written, whatever is there."""
        return self.request is not None and self.request.handed_in

    def hand_in(self, files: Publication) -> None:
        """Have the ledger keep the digests of files, before they appear."""
        if self.request is not None:
            self.request.hand_in(canonical(files.digests()).encode("ascii"))


@frozen(kw_only=True)
class LedgerOptions:
    """Which ledger a release is paid from, and under which id."""

    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL", help="Pay from this ledger before anything is drawn: its file, or postgresql://…"
        ),
    ] = None
    request: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The id of this release in the ledger: asked again, it is not drawn again."),
    ] = None
    data_set: Annotated[
        str | None, typer.Option(metavar="NAME", help="Refuse a ledger that protects another data set.")
    ] = None
    anchor: Anchor = None
    by: By = None

    def released(self, release: Callable[[Payer], Answer], places: Mapping[str, Path]) -> Answer:
        """Run a command that releases: what it answers, or what stands of an earlier call with the same id.

        Args:
            release: pays before it draws, and hands in what it writes.
            places: where this call would write what it releases, by the files' names: all of it.

        Raises:
            InvalidValue: for a ledger without an id, an id without a ledger, one that the call would write over, and as
                `Ledger`.
        """
        request = self._opened()
        if request is None:
            return release(Payer(request=None))
        self.refuse(places)
        try:
            return Paid(answer=release(Payer(request=request)), request=request)
        except ReleasedBefore:
            return _what_stands(request, places)
        except OutputLost as refusal:
            return _nothing(request, Outcome.LOST, refusal.remedy)
        except UsedBefore as refusal:
            return _nothing(request, Outcome.REFUSED, str(refusal))
        except BudgetExceeded as refusal:
            if request.refusal is None:  # another budget than the ledger's
                raise
            return _nothing(request, Outcome.REFUSED, str(refusal))

    def refuse(self, places: Mapping[str, Path | None]) -> None:
        """Refuse the ledger's own file as the place of an output, before anything is paid.

        Raises:
            InvalidValue: for such a place.
        """
        for path in places.values():
            if self.ledger is not None and path is not None and path.resolve() == Path(self.ledger).resolve():
                raise InvalidValue(
                    "ledger", self.ledger, "a file that the command does not write", "Choose another name"
                )

    def _opened(self) -> LedgerRequest | None:
        if self.ledger is None:
            stated = {"request": self.request, "data-set": self.data_set, "anchor": self.anchor, "by": self.by}
            refuse_unused(stated, "without --ledger", "State --ledger FILE too, or leave it out")
            return None
        if self.request is None:
            remedy = "State --request ID: with the same id the command may be repeated"
            raise InvalidValue("request", None, "an id that stands for this release alone", remedy)
        opened = Ledger(self.ledger, anchor=self.anchor)
        if self.data_set not in (None, opened.data):
            remedy = "Pay from the ledger of these data"
            raise InvalidValue("data-set", self.data_set, f"{opened.data}, which the ledger protects", remedy)
        return LedgerRequest(opened, self.request, by=self.by)


def among(paths: Iterable[Path | None]) -> dict[str, Path]:
    """The places of files that a command names one by one."""
    return {path.name: path for path in paths if path is not None}


def _what_stands(request: LedgerRequest, places: Mapping[str, Path]) -> NothingDrawn:
    """Whether what this call would write was handed in, and stands where this call would write it."""
    digests: dict[str, Any] = parsed(request.ledger.output(request.request).content.decode("ascii"), "output")
    if never := [name for name in places if name not in digests]:
        reason = (
            f"an earlier call paid, and did not release {', '.join(never)}. It is never drawn again: leave out what "
            "was not released, or release under another id"
        )
        return _nothing(request, Outcome.LOST, reason)
    if wrong := [name for name, path in places.items() if _digest(path) != digests[name]]:
        reason = (
            f"{', '.join(wrong)} is not there as it was released. The ledger keeps digests alone: it stays "
            "paid and is never drawn again; look for a copy, or release under another id"
        )
        return _nothing(request, Outcome.LOST, reason)
    reason = "an earlier call paid, and its files stand as they were released"
    if unseen := [name for name in digests if name not in places]:
        reason += f"; not asked for now, and not looked at: {', '.join(unseen)}"
    return NothingDrawn(request=request, outcome=Outcome.DONE, reason=reason, files=places)


def _nothing(request: LedgerRequest, outcome: Outcome, reason: str) -> NothingDrawn:
    return NothingDrawn(request=request, outcome=outcome, reason=reason, files={})


def _digest(path: Path) -> str | None:
    try:
        return digest_of(path.read_bytes())
    except OSError:
        return None


def _named(request: LedgerRequest) -> dict[str, object]:
    ledger = request.ledger
    left = left_as_json(ledger.remaining())
    return {"place": ledger.place, "data": ledger.data, "request": request.request, "left": left}


def _show_left(page: Page, request: LedgerRequest) -> None:
    page.print(f"left: {page.numbers.words(str(request.ledger.remaining()))}", 2)
