"""Public constants to try a plugin with: those that its options' converters admit, or those that its author gives."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, final

import attrs
from attrs import field, frozen

from ...accounting.errors import CertdpError, InvalidValue
from ...accounting.provenance import Public
from ..contract import build, stated

Options: TypeAlias = Mapping[str, str]
"""Options of a plugin as text, as on the command line."""

_NUMBERS: Final = ("1", "2", "1/2", "3", "1/4", "5", "0.1", "10", "1/3", "0.01", "30", "0.7", "0")
_WHOLE: Final = ("1", "2", "3", "5")
_OTHERS: Final = ("inf", "true", "false", "0.1,0.2,0.5", "1,2,4")
_MOST_SETUPS, _MOST_TRIES = 24, 600


@final
@frozen(eq=False)
class Setup:
    """A plugin with public constants.

    Attributes:
        plugin: its class.
        options: its public constants as text.
        instance: the very instance that was given, if one was.
    """

    plugin: type
    options: Options
    instance: Any = field(default=None)

    def build(self) -> Any:
        """The instance that was given, or a new one."""
        return self._made(self.options) if self.instance is None else self.instance

    def changed(self, option: str, value: str) -> Any:
        """An instance with another value of one option, or None where that is not admissible."""
        try:
            return self._made({**self.options, option: value})
        except CertdpError:
            return None

    def _made(self, options: Options) -> Any:
        return build(self.plugin, self.plugin.__name__, options)

    def __str__(self) -> str:
        return in_words(self.options)


def in_words(options: Options) -> str:
    """Write options as a reader would type them."""
    return ", ".join(f"{name}={value}" for name, value in options.items()) or "no options"


def of_instance(instance: object) -> tuple[Setup, ...]:
    """The constants of an instance, and no others."""
    return (Setup(type(instance), stated(instance), instance),)


def setups(plugin: type, given: Sequence[Options]) -> tuple[Setup, ...]:
    """Constants to try a class with, the simplest first: at least one, always the same ones.

    Args:
        plugin: a class that keeps the contract.
        given: constants by its author: each of them, completed where options are missing; none lets the kit choose.

    Raises:
        InvalidValue: where no admissible constants are found, or those given are not admissible.
    """
    return tuple(setup for options in given or ({},) for setup in _completed(plugin, options))


def _completed(plugin: type, given: Options) -> Iterator[Setup]:
    ladders = {name: ladder for name, ladder in _ladders(plugin).items() if name not in given}
    if all(None in ladder for ladder in ladders.values()) and given:
        build(plugin, plugin.__name__, given)
        yield Setup(plugin, dict(given))
        return
    empty = [name for name, ladder in ladders.items() if not ladder]
    if empty:
        raise _unknown(plugin, f"nothing for {', '.join(empty)}")
    found, problem = 0, ""
    for options in _combinations(ladders):
        complete = {**given, **options}
        try:
            build(plugin, plugin.__name__, complete)
        except CertdpError as error:
            problem = problem or str(error)
            continue
        found += 1
        yield Setup(plugin, complete)
        if found == _MOST_SETUPS:
            return
    if not found:
        raise _unknown(plugin, problem)


def _unknown(plugin: type, problem: str) -> InvalidValue:
    return InvalidValue(
        "options",
        problem,
        f"public constants that {plugin.__name__} can be built from",
        'None were found by trying: state some, as in options={"scale": "1"} or, on the command line, --option scale=1',
    )


def _ladders(plugin: type) -> dict[str, tuple[str | None, ...]]:
    """For each option the values that its converter admits, simplest first; None leaves it out."""
    found: dict[str, tuple[str | None, ...]] = {}
    for parameter in attrs.fields(plugin):
        if not parameter.init:
            continue
        admitted = _admitted(parameter.converter)
        optional = () if parameter.default is attrs.NOTHING else (None,)
        found[parameter.alias or parameter.name] = (*optional, *admitted)
    return found


def _admitted(convert: Any) -> tuple[str, ...]:
    numbers = tuple(text for text in _NUMBERS if _admits(convert, text))
    if numbers and "1/2" not in numbers and "0.1" not in numbers:
        numbers = tuple(text for text in _WHOLE if text in numbers)  # whole: dimensions, clusters and the like
    return numbers or tuple(text for text in _OTHERS if _admits(convert, text))


def _admits(convert: Any, text: str) -> bool:
    try:
        convert(Public(text))
    except Exception:  # a converter of a third party may raise anything; the law on options says so
        return False
    return True


def _combinations(ladders: Mapping[str, Sequence[str | None]]) -> Iterator[Options]:
    """Distinct choices from the ladders: the lowest rungs first, then by chance, the same each time."""
    chance, seen = random.Random(0), set()
    for turn in range(_MOST_TRIES):
        chosen = tuple(ladder[0] if not turn else chance.choice(ladder) for ladder in ladders.values())
        if chosen not in seen:
            seen.add(chosen)
            yield {name: text for name, text in zip(ladders, chosen, strict=True) if text is not None}
