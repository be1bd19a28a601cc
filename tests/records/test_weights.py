"""Weights of records that stream: the same as in memory, for every format and chunk size, and proven again apart."""

from __future__ import annotations

import math
import os
import signal
import stat
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from certdp import (
    ADD_REMOVE,
    RECORD,
    Coins,
    Count,
    Enclosure,
    ExPost,
    Full,
    Guarantee,
    Importance,
    InvalidType,
    InvalidValue,
    LaplaceSum,
    Norm,
    NormBall,
    Outside,
    Poisson,
    Public,
    Released,
    SampledRun,
)
from certdp.accounting.sampling.records import Realisation
from certdp.data import Records, open_records
from certdp.guarantees import PrivateValue, Theorem, publish
from certdp.notions import Pure
from certdp.plugins.contract import AnySampler
from certdp.records.chunks import _UNIT, _units
from certdp.records.losses import record_losses
from certdp.records.weights import RecordWeights, record_weights, weights_file
from certdp.samplers.privacy_constrained import PrivacyConstrained
from tests.support.arb_numbers import arb_of

TARGET = Fraction(3, 2)
SAMPLERS: dict[str, AnySampler] = {
    "constrained": PrivacyConstrained(target=Public("1.5")),
    "capped": PrivacyConstrained(target=Public("1.5"), largest_weight=Public(5)),
    "importance": Importance(rate=Public("0.2"), floor=Public("0.01")),
    "poisson": Poisson(rate=Public("0.3")),
}
CHUNKS = (1, 2, 7, 40, 1000, None)


def data(rows: int = 60, columns: int = 3) -> Any:
    records = np.random.default_rng(4).normal(size=(rows, columns)) * np.linspace(0.01, 3, rows)[:, None]
    records[5] = 0
    return records


def run_of(sampler: str, scale: int = 4) -> SampledRun:
    return SampledRun(mechanism=LaplaceSum(scale=Public(scale)), sampler=SAMPLERS[sampler])


def ball(radius: Any = 5) -> NormBall:
    return NormBall(norm=Norm.L1, radius=Public(radius))


def rows_of(realisations: list[Realisation]) -> Any:
    return np.array([np.concatenate([getattr(r, name) for r in realisations]) for name in ("weight", "probability")]).T


def weighed(
    run: SampledRun, records: Records, domain: NormBall | None = None, outside: Outside = Outside.CLIP, **options: Any
) -> tuple[RecordWeights, Any]:
    kept: list[Realisation] = []
    figures = record_weights(run.on(domain), records, outside, into=kept.append, **options).reveal()
    return figures, rows_of(kept)


def read(path: Path) -> Any:
    if path.suffix == ".parquet":
        table = parquet.read_table(path)
        assert table.column_names == ["weight", "probability"]
        return np.column_stack([table["weight"].to_numpy(), table["probability"].to_numpy()])
    header, *lines = path.read_text("ascii").splitlines()
    assert header == "weight,probability"
    return np.array([[float(cell) for cell in line.split(",")] for line in lines])


@pytest.fixture(params=["npy", "npz", "csv", "parquet"])
def saved(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Any], Path]:
    suffix: str = request.param

    def save(records: Any) -> Path:
        path = tmp_path / f"data.{suffix}"
        names = [f"c{j}" for j in range(records.shape[1])]
        if suffix == "npy":
            np.save(path, records)
        elif suffix == "npz":
            np.savez_compressed(path, X=records)
        elif suffix == "csv":
            np.savetxt(path, records, fmt="%.17g", delimiter=",", header=",".join(names), comments="")
        else:
            parquet.write_table(pyarrow.table({n: records[:, j] for j, n in enumerate(names)}), path)
        return path

    return save


@pytest.mark.parametrize("output", ["w.csv", "w.parquet"])
@pytest.mark.parametrize("outside", Outside)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_files_give_what_memory_gives(
    saved: Callable[[Any], Path], tmp_path: Path, sampler: str, outside: Outside, output: str
) -> None:
    records = data()
    path = saved(records)
    run, domain = run_of(sampler), ball()
    whole, expected = weighed(run, Records.of(records), domain, outside)
    for rows in (1, 7, None):
        with open_records(path) as stream, weights_file(tmp_path / output) as into:
            figures = record_weights(run.on(domain), stream, outside, into=into, rows=rows).reveal()
        assert np.array_equal(read(tmp_path / output), expected)
        for name in ("records", "outside", "expected_sample_size", "largest_loss", "gap"):
            assert getattr(figures, name) == getattr(whole, name)
    assert stat.S_IMODE((tmp_path / output).stat().st_mode) == 0o600


@pytest.mark.parametrize("outside", Outside)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_nothing_depends_on_chunks_and_the_figures_are_those_of_measure(sampler: str, outside: Outside) -> None:
    records, run, domain = data(), run_of(sampler), ball()
    measured = record_losses(run.on(domain), records, outside).reveal()
    whole, expected = weighed(run, Records.of(records), domain, outside)
    assert whole.expected_sample_size == measured.expected_sample_size
    assert (whole.largest_loss, whole.records, whole.outside) == (measured.largest, 60, measured.outside)
    assert measured.outside > 3
    assert (whole.gap is not None) == (sampler in {"constrained", "capped"})
    for rows in CHUNKS:
        figures, pairs = weighed(run, Records.of(records), domain, outside, rows=rows)
        assert np.array_equal(pairs, expected)
        assert figures.expected_sample_size == whole.expected_sample_size
        assert (figures.largest_loss, figures.gap, figures.outside) == (whole.largest_loss, whole.gap, whole.outside)


@pytest.mark.parametrize("sampler", ["constrained", "capped"])
def test_every_pair_keeps_within_the_target(tmp_path: Path, sampler: str) -> None:
    """ψ of the numbers in the file, from the records alone; and no larger weight would do."""
    flint.ctx.prec = 200
    records = data()
    with weights_file(tmp_path / "w.csv") as into:
        record_weights(run_of(sampler, 10), Records.of(records), into=into, rows=9)
    for row, (weight, probability) in zip(records, read(tmp_path / "w.csv"), strict=True):
        loss = sum((abs(arb_of(float(x))) for x in row), flint.arb(0)) / 10
        if loss == 0:
            assert (weight, probability) == ((math.inf, 0) if sampler == "constrained" else (5, 0.2))
            continue
        assert weight >= 1
        assert abs(weight * probability - 1) < 1e-15

        def psi(w: flint.arb, q: flint.arb, loss: flint.arb = loss) -> flint.arb:
            return (1 + q * ((loss * w).exp() - 1)).log()

        assert psi(arb_of(weight), arb_of(probability)) <= arb_of(TARGET)
        larger = arb_of(weight) * (1 + arb_of("1e-11"))
        assert weight == 5 or psi(larger, 1 / larger) > arb_of(TARGET)
        assert sampler == "constrained" or weight <= 5


def test_records_that_are_dropped_keep_their_place() -> None:
    records = data()
    beyond = np.abs(records).sum(axis=1) > 5
    for rows in (1, 7, None):
        figures, pairs = weighed(run_of("constrained"), Records.of(records), ball(), Outside.DROP, rows=rows)
        assert figures.outside == beyond.sum() > 3
        assert np.array_equal(pairs[beyond], [[math.inf, 0.0]] * beyond.sum())
        kept, alone = weighed(run_of("constrained"), Records.of(records[~beyond]), ball())
        assert np.array_equal(pairs[~beyond], alone)
        assert figures.expected_sample_size == kept.expected_sample_size


def test_where_all_are_dropped() -> None:
    figures, pairs = weighed(run_of("constrained"), Records.of(np.ones((3, 2))), ball(1), Outside.DROP)
    assert pairs.tolist() == [[math.inf, 0.0]] * 3
    assert (figures.records, figures.outside, figures.largest_loss) == (3, 3, 0.0)
    assert figures.expected_sample_size[1] < 1e-300


def test_a_released_radius_is_paid_for() -> None:
    cost = Guarantee(
        bound=Pure(Enclosure.of("0.25")), relation=ADD_REMOVE, unit=RECORD, derivation=Theorem("X", "1").conclude()
    )
    domain = NormBall(norm=Norm.L1, radius=Released(Fraction(5), cost, within=(5, 5)))
    run = run_of("importance")
    with pytest.raises(ExPost, match=r"domain\.radius"):
        weighed(run, Records.of(data()), NormBall(norm=Norm.L1, radius=Released(Fraction(5), cost, within=(1, 5))))
    figures, _ = weighed(run, Records.of(data()), domain)
    assert figures.largest_loss == record_losses(run.on(domain), data()).reveal().largest
    free, _ = weighed(run, Records.of(data()), ball())
    assert figures.largest_loss == pytest.approx(free.largest_loss + 0.25)
    tiny = NormBall(norm=Norm.L1, radius=Released(Fraction(1, 10**9), cost, within=("1e-9", "1e-9")))
    dropped, _ = weighed(run, Records.of(data()[10:]), tiny, Outside.DROP)
    assert dropped.outside == 50
    assert dropped.largest_loss >= 0.25  # a record that is dropped was seen by the release of the radius all the same


class TestSamples:
    def test_no_coins_no_sample(self) -> None:
        assert weighed(run_of("constrained", 10), Records.of(data()))[0].sample is None

    @pytest.mark.parametrize("rows", CHUNKS)
    def test_a_sample_does_not_depend_on_chunks(self, rows: int | None) -> None:
        records, run = data(), run_of("constrained")
        figures, pairs = weighed(run, Records.of(records), ball(), rows=rows, coins=Coins.seeded(9))
        whole, _ = weighed(run, Records.of(records), ball(), coins=Coins.seeded(9))
        sample = figures.sample
        assert sample is not None
        assert whole.sample is not None
        assert np.array_equal(sample.records, whole.sample.records)
        assert np.array_equal(sample.weights, whole.sample.weights)
        assert set(sample.weights) <= set(pairs[:, 0])
        assert np.abs(sample.records).sum(axis=1).max() <= 5

    def test_all_are_drawn_with_probability_one(self) -> None:
        run = SampledRun(mechanism=Count(scale=Public(1)), sampler=Full())
        figures, _ = weighed(run, Records.of(data()), rows=7, coins=Coins())
        assert figures.sample is not None
        assert np.array_equal(figures.sample.records, data())


class TestRefusals:
    def test_a_record_that_loses_too_much_is_named_by_its_row(self) -> None:
        records = data()
        records[50] = 100
        for rows in CHUNKS:
            with pytest.raises(InvalidValue, match="of record 50") as caught:
                weighed(run_of("constrained", 10), Records.of(records), rows=rows)
            assert caught.value.parameter == "unit_loss"

    def test_a_domain_with_records_that_cannot_be_drawn(self) -> None:
        with pytest.raises(InvalidValue) as caught:
            weighed(run_of("constrained"), Records.of(data()), ball(7))
        assert caught.value.parameter == "target"

    def test_another_dimension(self) -> None:
        domain = NormBall(norm=Norm.L1, radius=Public(5), dimension=4)
        with pytest.raises(InvalidValue) as caught:
            weighed(run_of("constrained"), Records.of(data()), domain)
        assert caught.value.parameter == "dimension"

    @pytest.mark.parametrize("output", ["w.csv", "w.parquet"])
    @pytest.mark.parametrize("old", [None, b"the old weights"])
    def test_a_fault_in_the_last_record_leaves_no_file(self, tmp_path: Path, output: str, old: bytes | None) -> None:
        records = data()
        records[59, 2] = np.nan
        np.save(tmp_path / "data.npy", records)
        out = tmp_path / "out"
        out.mkdir()
        if old is not None:
            (out / output).write_bytes(old)
        with (
            pytest.raises(InvalidValue, match="row 59"),
            open_records(tmp_path / "data.npy") as stream,
            weights_file(out / output) as into,
        ):
            record_weights(run_of("constrained", 10), stream, into=into, rows=4)
        assert [path.read_bytes() for path in out.iterdir()] == ([] if old is None else [old])

    @pytest.mark.parametrize("name", ["w.npy", "w", "w.csv.xz", "csv"])
    def test_an_unknown_format(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(InvalidValue) as caught, weights_file(tmp_path / name):
            pass
        assert caught.value.admissible == "a file ending in .csv or .parquet"
        assert list(tmp_path.iterdir()) == []

    def test_a_run_of_another_kind(self) -> None:
        with pytest.raises(InvalidType, match="run"):
            record_weights(LaplaceSum(scale=Public(4)), data())  # type: ignore[arg-type]

    def test_parquet_without_its_library(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(InvalidValue, match=r"certdp\[parquet\]"), weights_file(tmp_path / "w.parquet"):
            pass
        assert list(tmp_path.iterdir()) == []

    def test_a_missing_folder(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidValue, match="writable folder"), weights_file(tmp_path / "none" / "w.csv"):
            pass

    @pytest.mark.parametrize("output", ["w.csv", "w.parquet"])
    def test_a_file_that_grows_too_large(self, tmp_path: Path, output: str) -> None:
        resource = pytest.importorskip("resource", reason="this system has no limits of files")
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        try:
            with pytest.raises(InvalidValue, match="too large") as caught, weights_file(tmp_path / output) as into:
                into(Realisation(np.linspace(1, 2, 80_000), np.linspace(0.5, 1, 80_000)))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, before)
        assert caught.value.parameter == "path"
        assert list(tmp_path.iterdir()) == []

    def test_a_full_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(InvalidValue, match="No space left"), weights_file(tmp_path / "w.csv") as into:
            record_weights(run_of("constrained", 10), Records.of(data()), into=into)
        assert list(tmp_path.iterdir()) == []


def test_figures_are_private() -> None:
    private = record_weights(run_of("constrained", 10), Records.of(data()))
    for shown in (str(private), repr(private)):
        assert "largest_loss" not in shown
        assert "60" not in shown
    with pytest.raises(PrivateValue):
        publish(private)  # type: ignore[arg-type]


def test_progress_counts_records() -> None:
    seen: list[int] = []
    record_weights(run_of("constrained", 10), Records.of(data()), rows=25, progress=seen.append)
    assert seen == [25, 50, 60]


probabilities = st.just(0.0) | st.floats(2.0**-960, 1.0)


def total(values: Any) -> Fraction:
    return Fraction(_units(np.array(values, dtype=np.float64)), 1 << _UNIT)


@given(st.lists(probabilities, max_size=40), st.integers(0, 40))
def test_the_total_is_exact(values: list[float], cut: int) -> None:
    assert total(values[:cut]) + total(values[cut:]) == sum(map(Fraction, values))


@pytest.mark.slow
def test_the_total_of_many_is_exact() -> None:
    values = np.maximum(np.random.default_rng(2).random(200_000) ** 30, 2.0**-960)
    assert total(values) == sum(map(Fraction, values.tolist()))


@pytest.mark.skipif(not os.environ.get("CERTDP_DATA"), reason="CERTDP_DATA is not set: no real data here")
def test_the_song_sample(tmp_path: Path) -> None:
    path = Path(os.environ["CERTDP_DATA"]) / "song_uniform_25000.npz"
    with np.load(path) as arrays:
        records = arrays["X"].astype(np.float64)
    run = SampledRun(mechanism=LaplaceSum(scale=Public(20_000)), sampler=SAMPLERS["constrained"])
    domain = ball(20_000)
    with open_records(path) as stream, weights_file(tmp_path / "w.parquet") as into:
        figures = record_weights(run.on(domain), stream, Outside.DROP, into=into, rows=1000).reveal()
    rate = run.drawing.on(domain)
    pairs = read(tmp_path / "w.parquet")
    norms = np.abs(records).sum(axis=1)
    assert (figures.records, figures.outside) == (25_000, (norms > 20_000).sum())
    assert np.array_equal(np.isinf(pairs[:, 0]), norms > 20_000)
    drawn = pairs[norms <= 20_000]
    loss = norms[norms <= 20_000] / 20_000
    psi = np.log1p(drawn[:, 1] * np.expm1(loss * drawn[:, 0]))
    assert psi == pytest.approx(1.5, rel=1e-9)
    assert figures.largest_loss == rate.ceiling == 1.5
    assert figures.expected_sample_size[0] <= math.fsum(pairs[:, 1]) <= figures.expected_sample_size[1]


def test_the_gap_is_the_largest_of_all_chunks() -> None:
    run = SampledRun(mechanism=LaplaceSum(scale=Public(3)), sampler=PrivacyConstrained(target=Public("1.5")))
    records = np.random.default_rng(8).normal(size=(12, 3))
    each = [record_weights(run, records[place : place + 1]).reveal().gap for place in range(len(records))]
    known = [gap for gap in each if gap is not None]
    assert len(known) == len(each)
    assert min(known) < max(known)
    assert record_weights(run, records, rows=1).reveal().gap == max(known) == record_weights(run, records).reveal().gap
