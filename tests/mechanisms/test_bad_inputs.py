"""Of every built-in mechanism of records: what it cannot release is refused before anything is drawn or paid."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

import attrs
import numpy as np
import pytest
from attrs import define

from certdp import Coins, Full, Public, SampledRun
from certdp.accounting.draws import source as sources
from certdp.accounting.draws.source import PROBE, KeyedStream, OperatingSystem, private_source
from certdp.accounting.errors import InvalidValue
from certdp.plugins.contract import Mechanism, WeightedSample, many_releases
from certdp.verification.mutation.declared import DECLARED

MECHANISMS: dict[str, Any] = {
    formula.example.about.name: formula.example for formula in DECLARED if isinstance(formula.example, Mechanism)
}
CHOICES = ["quantile-choice", "report-noisy-max", "above-threshold"]
LATTICE = {"discrete-laplace", "discrete-gaussian", *CHOICES}
EACH = pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
SUMS = ["laplace-sum", "count", "gaussian-sum", "lp-sum", "discrete-laplace", "discrete-gaussian"]
SCALED = [name for name, mechanism in MECHANISMS.items() if hasattr(mechanism, "scale")]


def test_every_built_in_mechanism_of_records_is_tried() -> None:
    registered = {
        each.name for each in entry_points(group="certdp.mechanisms") if each.dist and each.dist.name == "certdp"
    }
    assert MECHANISMS.keys() == {name for name in registered if not name.startswith("pws-")}
    assert [*SUMS, *CHOICES] == SCALED


def records(mechanism: Any, value: float = 1.0) -> Any:
    return np.array([[value], [0.0]] if mechanism.about.name == "randomised-response" else [[value, 0.0], [0.0, value]])


@define
class Counted:
    """Words from a function of the number of the request, counted from 1."""

    words: Callable[[int, int], Any]
    requests: int = 0
    private: bool = True

    def bits(self, count: int) -> Any:
        self.requests += 1
        return self.words(self.requests, count)


def failing(request: int, count: int) -> Any:
    raise OSError("no entropy")


BROKEN: dict[str, Callable[[int, int], Any]] = {
    "fails": failing,
    "fails at the second request": lambda request, count: (
        failing(request, count) if request > 1 else OperatingSystem().bits(count)
    ),
    "too few": lambda request, count: OperatingSystem().bits(count - 1),
    "signed": lambda request, count: OperatingSystem().bits(count).view(np.int64),
    "stands still": lambda request, count: np.full(count, 7, dtype=np.uint64),
    "zeros": lambda request, count: np.zeros(count, dtype=np.uint64),
    "repeats": lambda request, count: np.random.Philox(1).random_raw(count).astype(np.uint64),
}


@EACH
@pytest.mark.parametrize("words", BROKEN.values(), ids=BROKEN)
def test_a_source_that_fails_or_repeats_is_refused_before_anything_is_drawn(mechanism: Any, words: Any) -> None:
    source = Counted(words)
    run = SampledRun(mechanism=mechanism, sampler=Full())
    with pytest.raises(InvalidValue, match="coins: got a source"):
        run.prepared(records(mechanism), coins=Coins(source))
    assert source.requests <= 2


@EACH
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_records_that_are_no_numbers_are_refused(mechanism: Any, value: float) -> None:
    source = Counted(lambda request, count: OperatingSystem().bits(count))
    run = SampledRun(mechanism=mechanism, sampler=Full())
    with pytest.raises(InvalidValue, match="records: got NaN or inf"):
        run.release(records(mechanism, value), coins=Coins(source))
    assert not source.requests


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("scale", ["1e-320", "1e-200", "1e-142", "1e-141", "1", "1e150", "1e159", "1e160", "1e300"])
def test_scales_at_the_ends_are_refused_at_once_or_released_finitely(name: str, scale: str) -> None:
    """What `require` lets through is released; and it lets all through that noise of units 2^-500 to 2^500 can hold."""
    source = Counted(lambda request, count: OperatingSystem().bits(count))
    mechanism: Any = attrs.evolve(MECHANISMS[name], scale=Public(scale))
    data = WeightedSample(np.array([[1.0, -2.0], [3.0, 1e-300]]), np.array([1.0, 2.0]))
    if name in LATTICE or 1e-141 <= float(scale) <= 1e159:
        mechanism.require(data)
        assert np.isfinite(many_releases(mechanism, data, 3, Coins(source))).all()
    else:
        with pytest.raises(InvalidValue, match="scale: got"):
            mechanism.require(data)
        assert not source.requests


@EACH
def test_records_without_columns_are_refused_or_released(mechanism: Any) -> None:
    """No column is no mistake of a sum, and a count has nothing to do with columns."""
    sample = WeightedSample(np.empty((3, 0)), np.ones(3))
    if mechanism.about.name in {"randomised-response", *CHOICES}:
        with pytest.raises(InvalidValue):
            mechanism.require(sample)
        return
    outputs = many_releases(mechanism, sample, 2, Coins.seeded(1))
    assert outputs.shape == (2, 1 if mechanism.about.name == "count" else 0)


@pytest.mark.parametrize("name", SUMS)
def test_sums_beyond_64_bits_are_exact(name: str) -> None:
    """2^60 units a record and more; in the noise of a scale of 1 that differs by nothing from the sum of one record."""
    large = 2.0**52
    sample = WeightedSample(np.full((3, 2), large), np.full(3, large))
    mechanism = attrs.evolve(MECHANISMS[name], scale=Public(1))
    total = 3 * large if name == "count" else 3 * large * large
    for entry in np.ravel(mechanism.release(sample, Coins.seeded(2))):
        assert abs(float(entry) - total) <= 100 + total * 2.0**-50


def test_a_cipher_that_is_missing_or_wrong_is_found_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coins are then the operating system's, and a keyed stream cannot be made."""

    def missing(*_: Any) -> None:
        raise ImportError("no module named cryptography")

    def without_counter_mode(*_: Any) -> None:
        raise AttributeError("modes has no CTR")

    def wrong(_: Any, __: Any, room: memoryview, size: int) -> None:
        room[:size] = bytes(size)

    for broken in (missing, without_counter_mode, wrong):
        sources._has_cipher.cache_clear()
        monkeypatch.setattr(sources, "_encipher", broken)
        assert isinstance(private_source(), OperatingSystem)
        assert isinstance(Coins().source, OperatingSystem)
        with pytest.raises(InvalidValue, match=r"source: got a keyed stream without its cipher"):
            KeyedStream()
    monkeypatch.undo()
    sources._has_cipher.cache_clear()
    assert isinstance(private_source(), KeyedStream)


def test_a_working_source_is_asked_for_enough_that_a_stream_enciphers_it() -> None:
    asked: list[int] = []

    def working(request: int, count: int) -> Any:
        asked.append(count)
        return OperatingSystem().bits(count)

    sources.require_working(Counted(working))
    assert asked == [PROBE, PROBE]
    assert PROBE > sources._FEW
    sources.require_working(Counted(failing, private=False))  # a seeded one keeps its words
