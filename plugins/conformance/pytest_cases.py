"""The laws as pytest tests: one per law."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, final

from attrs import frozen

from .check import Examination, examination
from .conformance import Verdict

F = TypeVar("F", bound=Callable[..., Any])


@final
@frozen
class LawTest:
    """One law, to be called in a test: fails where the law does, and skips the test where it is not applicable."""

    examination: Examination
    name: str

    def __call__(self) -> None:
        """Check the law.

        Raises:
            AssertionError: where it fails, with the witness.
        """
        import pytest

        outcome = self.examination.outcome(self.name)
        match outcome.verdict:
            case Verdict.FAILED:
                raise AssertionError("\n".join([f"{outcome.law}: {outcome.says}", *outcome.details]))
            case Verdict.NOT_APPLICABLE:
                pytest.skip(outcome.reason)


def parametrize(plugin: object, **terms: Any) -> Callable[[F], F]:
    """A decorator that runs a test once per law, which the test is given as `law` and calls.

    Args:
        plugin: as for `check`.
        terms: arguments of `check`.
    """
    import pytest

    found = examination(plugin, **terms)
    tests = [pytest.param(LawTest(found, name), id=name) for name in found.laws]
    return pytest.mark.parametrize("law", tests)
