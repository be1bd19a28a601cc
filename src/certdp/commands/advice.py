"""What to do about a value that a command refuses, where the error itself does not say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from ..accounting.errors import InvalidValue, restated


@contextmanager
def advising(remedies: Mapping[str, str]) -> Iterator[None]:
    """Have errors that do not say what to do say it.

    Args:
        remedies: what to do, by parameter; errors about others pass as they are.
    """
    try:
        yield
    except InvalidValue as error:
        if error.remedy or error.parameter not in remedies:
            raise
        raise restated(error, remedy=remedies[error.parameter]) from None


def about_options(stated: Iterable[str]) -> dict[str, str]:
    """What to do about the values of options that were typed as KEY=VALUE."""
    keys = [text.partition("=")[0] for text in stated]
    return {key.rpartition(".")[2]: f"Give another value: --option {key}=VALUE" for key in keys}
