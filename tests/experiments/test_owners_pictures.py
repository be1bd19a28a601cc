"""Whom the pictures of experiments are for: run on a file each says so on its face, but for what no file moves."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certdp.accounting.errors import InvalidValue
from certdp.data import Reading
from certdp.dpis.pictures import NOISE_CURVES
from certdp.experiments import (
    dpis_figure_1,
    findings,
    networks,
    pws_errors,
    pws_fractions,
    pws_order,
    trade_offs,
    training_runs,
)
from certdp.experiments.catalogue import EXPERIMENTS
from certdp.experiments.count_experiments import CountExperiment
from certdp.experiments.dpis_figure_1 import NoiseExperiment
from certdp.experiments.dpis_tables import TrainingExperiment
from certdp.experiments.experiment import Experiment, ExperimentOptions, Prepared
from certdp.experiments.findings import Findings, Table
from certdp.experiments.networks import SmallNetworks
from certdp.experiments.pictures import Picture
from certdp.experiments.pws_order import OrderExperiment
from certdp.experiments.record_experiments import RecordExperiment
from certdp.mechanisms.lloyd import Split

MARK = "private: for the data's owner, not for publication"


def points(folder: Path, seed: int) -> Path:
    generator = np.random.default_rng(seed)
    path = folder / "points.npy"
    np.save(path, generator.normal(size=(120, 3)) + 4 * generator.integers(3, size=(120, 1)))
    return path


def counts(folder: Path, seed: int) -> Path:
    path = folder / "words.tsv"
    path.write_text("".join(f"k{key}\t{1 + key % (5 + seed)}\n" for key in range(60)), "utf-8")
    return path


def norm_sums(folder: Path, seed: int) -> Path:
    path = folder / "sums.txt"
    path.write_text(f"60000\n{40000 - seed}\n", "utf-8")
    return path


def labelled(folder: Path, seed: int) -> Path:
    generator = np.random.default_rng(seed)
    labels = generator.integers(2, size=300)
    pictures = (generator.integers(0, 100, (300, 8, 8)) + 100 * labels[:, None, None]).astype(np.uint8)
    path = folder / "digits.npz"
    np.savez(path, X_train=pictures[:200], y_train=labels[:200], X_test=pictures[200:], y_test=labels[200:])
    return path


FILES: Mapping[type, Callable[[Path, int], Path]] = {
    RecordExperiment: points,
    CountExperiment: counts,
    OrderExperiment: counts,
    NoiseExperiment: norm_sums,
    TrainingExperiment: labelled,
}
"""What a kind of experiment reads: a new kind is put here."""


def multipliers(_: str, sums: Sequence[Fraction]) -> dict[str, list[float]]:
    return {name: [float(one) for one in sums] for name in NOISE_CURVES}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(trade_offs, "EPSILONS", (100.0,))
    monkeypatch.setattr(trade_offs, "EPSILONS_AGAINST_SIZE", (3.0,))
    monkeypatch.setattr(networks, "RATES", (0.1,))
    monkeypatch.setattr(networks, "HIDDEN", 4)
    monkeypatch.setattr(training_runs, "EPOCHS", 2)
    monkeypatch.setattr(dpis_figure_1, "multipliers", multipliers)
    monkeypatch.setattr(pws_fractions, "DELTA_STEPS", 1)
    monkeypatch.setattr(pws_errors, "THRESHOLDS", (None, Fraction(1, 100)))
    monkeypatch.setattr(pws_errors, "FILE_THRESHOLDS", (None, Fraction(1, 10), Fraction(1, 100)))
    monkeypatch.setattr(pws_errors, "HIGHEST", 40)
    monkeypatch.setattr(pws_fractions, "THRESHOLD_STEPS", 1)
    monkeypatch.setattr(pws_order, "THRESHOLDS", (None, Fraction(1, 10)))


def prepared(name: str, path: Path) -> Prepared:
    training = isinstance(EXPERIMENTS[name], TrainingExperiment)
    asked = ExperimentOptions(
        name=name,
        data=path,
        reading=Reading(divide_by="255") if training else Reading(),
        repetitions=1 if EXPERIMENTS[name].draws else None,
        sizes=(20,) if isinstance(EXPERIMENTS[name], RecordExperiment) else (),
        epsilons=("8",) if training else (),
        split=Split.PUBLISHED,
        seed=0,
        out=None,
    )
    return EXPERIMENTS[name].prepare(asked)


def takes_a_file(experiment: Experiment) -> bool:
    match experiment:
        case RecordExperiment(published=published):
            return bool(published)
        case CountExperiment(reads_counts=reads):
            return reads
    return True


TAKING = [name for name, experiment in EXPERIMENTS.items() if takes_a_file(experiment)]


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name not in TAKING])
def test_the_others_refuse_a_file(name: str, tmp_path: Path) -> None:
    path = FILES[type(EXPERIMENTS[name])](tmp_path, 0)
    with pytest.raises(InvalidValue) as caught:
        prepared(name, path)
    assert caught.value.parameter == "data"


@pytest.mark.slow
@pytest.mark.parametrize("name", TAKING)
def test_what_is_not_marked_is_the_same_for_every_file(name: str, tmp_path: Path) -> None:
    experiment = EXPERIMENTS[name]
    if isinstance(experiment, TrainingExperiment) and not isinstance(experiment.networks, SmallNetworks):
        pytest.skip("it trains for long, and ends its picture where the other tables do")
    found = []
    for seed in range(2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        found.append(prepared(name, FILES[type(experiment)](folder, seed)).compute(lambda _: None))
    one, other = (each.files(owners=True) for each in found)
    assert set(one) == set(other)
    for picture, drawn in found[0].pictures.items():
        marked = drawn.figure._supxlabel is not None and drawn.figure._supxlabel.get_text() == MARK
        assert marked != drawn.without_data
        if drawn.without_data:
            assert one[f"{picture}.png"] == other[f"{picture}.png"]


def test_pictures_end_in_one_place() -> None:
    """So that a new experiment cannot end one without asking whom it is for."""
    folder = Path(str(findings.__file__)).parent
    ending = {"png", "owners_png", "savefig", "ended"}
    found = {
        path.name
        for path in folder.glob("*.py")
        if ending & {getattr(node, "attr", getattr(node, "id", None)) for node in ast.walk(ast.parse(path.read_text()))}
    }
    assert found == {"findings.py", "pictures.py"}


@pytest.mark.parametrize("without_data", [False, True])
@pytest.mark.parametrize("owners", [False, True])
def test_a_picture_is_marked_unless_it_is_without_data(owners: bool, without_data: bool) -> None:
    picture = Picture.of(1, 1, without_data=without_data).titled("one")
    made: dict[str, Any] = Findings({}, {"a": Table(("x",), [(1,)])}, {"b": picture}).files(owners=owners)
    assert set(made) == {"a.csv", "b.png"}
    assert (picture.figure._supxlabel is not None) == (owners and not without_data)
