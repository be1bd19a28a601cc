"""What private values refuse, and what errors about data tell."""

from __future__ import annotations

import copy
import gc
import json
import logging
import operator
import pickle
import traceback
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import CertdpError, InvalidValue, blamed_on
from certdp.accounting.private import FailedOnPrivate, InvalidData, Private, PrivateValue

SECRET = 8251.75


def _pickled(protocol: int, value: object) -> bytes:
    return pickle.dumps(value, protocol)


REFUSED: dict[str, Callable[[Any], Any]] = {
    "==": lambda p: p == Private(SECRET),
    "== a guess": lambda p: p == SECRET,
    "!=": lambda p: p != SECRET,
    "a guess ==": lambda p: p == SECRET,
    "an array's ==": lambda p: np.array([SECRET]) == p,
    "an array's +": lambda p: np.array([SECRET]) + p,
    "<": lambda p: p < 9,
    ">=": lambda p: p >= 9,
    "sorted": lambda p: sorted([p, Private(3)]),
    "in": lambda p: SECRET in [p],
    "hash": hash,
    "a set": lambda p: {p},
    "bool": bool,
    "not": operator.not_,
    "format": lambda p: f"{p:.3f}",
    "float": float,
    "int": int,
    "index": operator.index,
    "round": round,
    "len": len,
    "list": list,
    "item": lambda p: p[0],
    "+": lambda p: p + 1,
    "array": np.asarray,
    "array of it": lambda p: np.array([p, p]),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "replace": lambda p: attrs.evolve(p),
    "json": json.dumps,
    "vars": vars,
    "attrs.asdict": attrs.asdict,
    "attrs.astuple": attrs.astuple,
    **{f"pickle {protocol}": partial(_pickled, protocol) for protocol in range(6)},
}


@attrs.frozen(eq=False)
class Holder:
    """A result with a private part."""

    part: Private[Any]


@pytest.mark.parametrize("use", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("value", [SECRET, [SECRET], np.array([SECRET])], ids=["number", "list", "array"])
def test_what_is_refused_tells_nothing(use: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises((TypeError, attrs.exceptions.NotAnAttrsClassError)) as caught:
        use(Private(value))
    assert str(SECRET) not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize("use", [copy.deepcopy, pickle.dumps])
def test_what_holds_a_private_part_is_not_serialised(use: Callable[[Any], Any]) -> None:
    with pytest.raises(PrivateValue, match="owner's files"):
        use(Holder(Private(SECRET)))


@pytest.mark.parametrize("value", [SECRET, [SECRET], {SECRET: 1}, Holder(Private(SECRET))])
def test_no_text_shows_it(value: Any) -> None:
    private = Private(value)
    holder = Holder(private)
    texts = [str(private), repr(private), f"{private}", f"{private!r:>40}", "%s" % private, repr([private])]  # noqa: UP031
    texts += [repr(holder), repr(attrs.asdict(holder)), repr(attrs.astuple(holder)), repr(dir(private))]
    assert not [text for text in texts if str(SECRET) in text]


def test_what_walks_over_attributes_finds_no_value() -> None:
    private = Private(SECRET)
    names = [name for kind in type(private).__mro__ for name in getattr(kind, "__slots__", ())]
    assert SECRET not in [getattr(private, name) for name in names if name != "__weakref__"]
    assert SECRET not in gc.get_referents(private)
    assert weakref.ref(private)() is private
    assert private.reveal() == SECRET


class _Quoting(Exception):
    """An error that tells, as errors do."""


@pytest.mark.slow
@given(value=st.text(min_size=6) | st.floats(1e5, 1e9) | st.lists(st.integers(10**6, 10**9), min_size=1))
def test_an_error_of_a_function_is_told_by_its_type_alone(value: Any) -> None:
    def fail(opened: Any) -> Any:
        try:
            raise KeyError(opened)
        except KeyError as error:
            raise _Quoting(f"cannot use {opened!r}") from error

    with pytest.raises(FailedOnPrivate) as caught:
        Private(value).map(fail)
    told = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=False).format())
    assert "_Quoting" in str(caught.value)
    assert "cannot use" not in told
    assert caught.value.__context__ is caught.value.__cause__ is None
    assert repr(value) not in repr(caught.value.args)


@pytest.mark.parametrize("ending", [SystemExit, GeneratorExit, KeyboardInterrupt, BaseException, BaseExceptionGroup])
def test_what_ends_a_process_in_a_function_tells_nothing_either(ending: type[BaseException]) -> None:
    def end(value: Any) -> None:
        raise ending(f"cannot use {value!r}", *([[KeyboardInterrupt()]] if ending is BaseExceptionGroup else []))

    told: type[BaseException] = KeyboardInterrupt if ending is KeyboardInterrupt else FailedOnPrivate
    with pytest.raises(told) as caught:
        Private(SECRET).map(end)
    assert str(SECRET) not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is caught.value.__cause__ is None


def test_an_error_about_data_comes_without_what_led_to_it() -> None:
    def refuse(value: Any) -> None:
        try:
            raise ValueError(f"cannot use {value!r}")
        except ValueError as error:
            raise InvalidData("data", "another value in row 2", "whole numbers") from error

    with pytest.raises(InvalidData, match="row 2") as caught:
        Private(SECRET).map(refuse)
    assert caught.value.__context__ is caught.value.__cause__ is None
    assert [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)][1:] == ["map"]


def test_what_is_logged_of_a_failed_function_tells_nothing(caplog: pytest.LogCaptureFixture) -> None:
    try:
        Private(SECRET).map(lambda value: dict[float, int]()[value])
    except CertdpError:
        logging.getLogger().exception("failed")
    assert "KeyError" in caplog.text
    assert str(SECRET) not in caplog.text


class TestInvalidData:
    """Errors that say where, not what."""

    error = InvalidData("data", "no number in line 3", "numbers", "Correct it", found=Private(SECRET))

    def test_the_value_is_shown_where_it_is_asked_for_alone(self) -> None:
        assert str(self.error) == "data: got no number in line 3; admissible: numbers. Correct it"
        assert str(SECRET) not in repr(self.error) + repr(vars(self.error)) + repr(self.error.args)
        assert self.error.formatted_finding == str(SECRET)
        assert InvalidData("data", "no record", "records").formatted_finding is None

    def test_blame_moves_with_what_was_found(self) -> None:
        with pytest.raises(InvalidData, match=r"^--data: got no number") as caught, blamed_on(data="--data"):
            raise self.error
        assert caught.value.found is self.error.found

    def test_it_passes_where_other_errors_are_withheld(self) -> None:
        def fail(error: Exception) -> None:
            raise error

        with pytest.raises(InvalidData, match="line 3"):
            Private(SECRET).map(lambda _: fail(self.error))
        with pytest.raises(FailedOnPrivate):
            Private(SECRET).map(lambda value: fail(InvalidValue("data", value, "less")))

    def test_it_is_not_pickled(self) -> None:
        with pytest.raises(PrivateValue):
            pickle.dumps(self.error)
