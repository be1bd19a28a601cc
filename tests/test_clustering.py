"""DPKMeans: scikit-learn's own checks, the certificate, what is private, and what is refused."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from certdp.accounting.errors import InvalidValue
from certdp.accounting.expressions.suprema import NoFiniteSupremum
from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Private, PrivateValue, Public
from certdp.clustering import DPKMeans, NotPrivate
from certdp.data import Records, open_records
from certdp.mechanisms.lloyd import Lloyd
from certdp.plugins.contract import Sampler
from certdp.samplers.full import Full
from certdp.samplers.importance import Importance
from certdp.samplers.poisson import Poisson
from certdp.verification.checker import check

seeded = pytest.mark.filterwarnings("ignore::certdp.clustering.NotPrivate")


@seeded
@parametrize_with_checks([DPKMeans(n_clusters=3, epsilon=1e4, radius=3)])  # type: ignore[untyped-decorator]
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    """All of them, without an exception; the array API check is skipped unless SCIPY_ARRAY_API is set."""
    check(estimator)


def blobs(rows: int = 900, dimension: int = 3) -> Any:
    generator = np.random.default_rng(7)
    centres = generator.uniform(-1, 1, (4, dimension))
    return centres[generator.integers(0, 4, rows)] + 0.1 * generator.standard_normal((rows, dimension))


def fitted(data: Any = None, **changes: Any) -> DPKMeans:
    options: dict[str, Any] = {"n_clusters": 4, "epsilon": 2, "radius": 2, **changes}
    return DPKMeans(**options).fit(blobs() if data is None else data)


def claims_of(model: DPKMeans) -> str:
    verdict = check(model.certificate_)
    assert verdict.outcome.value == "holds", verdict
    return model.certificate_.decode()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"epsilon": "0.1", "norm": "inf", "split": "published"},
        {"epsilon": 1000, "norm": 1, "max_iter": 3},
        {"sample_size": 300, "population": 1000},
        {"sampler": Importance(rate=Public("0.4"), norm=Public(2), floor=Public("0.1"))},
        {"noise_scale": 500, "sampler": Full()},
    ],
)
def test_a_fit_costs_at_most_epsilon_and_proves_it(changes: dict[str, Any]) -> None:
    model = fitted(**changes)
    target = Fraction(str(changes.get("epsilon", 2)))
    assert 0 < Fraction(model.epsilon_spent_) <= target
    assert "noise_scale" in changes or model.epsilon_spent_ >= float(target) * 0.999
    text = claims_of(model)
    assert repr(model.epsilon_spent_) in text
    assert '"lloyd"' in text
    assert model.is_private_
    assert model.n_iter_ == changes.get("max_iter", 10)
    assert model.cluster_centers_.shape == (4, 3)
    lengths = np.linalg.norm(model.cluster_centers_, ord=float(changes.get("norm", 2)), axis=1)
    assert np.all(lengths <= 2)


def test_what_depends_on_the_data_is_private() -> None:
    data = blobs()
    model = fitted(data, sample_size=300, population=900, radius="1")
    assert isinstance(model.private_, Private)
    assert repr(model.private_) == "Private(…)"
    figures = model.private_.reveal()
    assert figures.records == 900
    assert figures.outside == int((np.linalg.norm(data, axis=1) > 1).sum())
    assert 200 < figures.sample_size < 400
    assert np.array_equal(model.labels_, model.predict(data))
    nearest = ((data[:, np.newaxis] - model.cluster_centers_) ** 2).sum(axis=2).min(axis=1)
    assert model.inertia_ == pytest.approx(nearest.sum())
    assert model.score(data) == pytest.approx(-nearest.sum())
    assert np.allclose(model.transform(data).min(axis=1) ** 2, nearest, atol=1e-7)
    elsewhere = fitted(data[::-1] * 0.5 + 0.1, sample_size=300, population=900, radius="1")
    assert elsewhere.certificate_ == model.certificate_


@pytest.mark.parametrize("copied", [deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_holds_released_values_alone(copied: Callable[[DPKMeans], DPKMeans]) -> None:
    data = blobs()
    model = fitted(data)
    published = copied(model)
    assert not hasattr(published, "private_")
    assert not hasattr(published, "labels_")
    assert not hasattr(published, "inertia_")
    assert np.array_equal(published.predict(data), model.labels_)
    assert published.certificate_ == model.certificate_
    assert hasattr(model, "private_")


def test_coins_come_from_the_system_unless_a_seed_is_given() -> None:
    first, second = fitted(), fitted()
    assert not np.array_equal(first.cluster_centers_, second.cluster_centers_)
    with pytest.warns(NotPrivate, match="not private"):
        once = fitted(random_state=5)
    with pytest.warns(NotPrivate):
        again = fitted(random_state=5)
    assert np.array_equal(once.cluster_centers_, again.cluster_centers_)
    assert not once.is_private_
    for asked in ("certificate_", "epsilon_spent_"):
        assert not hasattr(once, asked)
        with pytest.raises(InvalidValue, match="random_state=None"):
            getattr(once, asked)
        assert not hasattr(DPKMeans(radius=1), asked)


def test_a_fit_states_what_was_released(tmp_path: Path) -> None:
    """As the centres are written by NumPy, so is their digest."""
    model = fitted()
    np.save(tmp_path / "centres.npy", model.cluster_centers_)
    statement = model.statement_.as_json
    assert statement["digest"] == "sha256:" + sha256((tmp_path / "centres.npy").read_bytes()).hexdigest()
    assert (statement["mechanism"]["name"], statement["coins"]) == ("lloyd", "operating system")
    assert statement["grids"]
    with pytest.warns(NotPrivate):
        assert fitted(random_state=1).statement_.coins == "seeded"


@seeded
def test_threads_change_nothing() -> None:
    data = np.tile(blobs(dimension=20), (8, 1))
    runs = [fitted(data, random_state=1, radius=5, n_jobs=jobs) for jobs in (1, 2, None, -1)]
    assert all(np.array_equal(run.cluster_centers_, runs[0].cluster_centers_) for run in runs)


@seeded
def test_with_a_large_epsilon_it_comes_near_to_k_means() -> None:
    data = blobs(3000)
    best = min(fitted(data, epsilon=1e6, random_state=seed).inertia_ for seed in range(5))
    peer: Any = KMeans(4, random_state=0)
    peer.set_params(n_init=10).fit(data)
    assert best <= 1.01 * peer.inertia_


@seeded
def test_a_public_centre_moves_the_ball() -> None:
    data = blobs(3000)
    shift = np.array([100.0, -50.0, 7.0])
    here, there = (fitted(data + s, centre=s, epsilon=1e4, random_state=3) for s in (0 * shift, shift))
    assert np.allclose(here.cluster_centers_ + shift, there.cluster_centers_, atol=1e-6)
    assert fitted(data + shift, epsilon=1e4, random_state=3).private_.reveal().outside == 3000


@seeded
def test_records_outside_are_clipped_or_dropped() -> None:
    data = np.concatenate([blobs(500), 50 + blobs(500)])
    clipped, dropped = (fitted(data, outside=word, random_state=2).private_.reveal() for word in ("clip", "drop"))
    assert (clipped.sample_size, clipped.outside) == (1000, 500)
    assert (dropped.sample_size, dropped.outside) == (500, 500)


def test_a_sampler_may_be_made_for_the_mechanism() -> None:
    seen: list[Lloyd] = []

    def sampler_for(mechanism: Lloyd) -> Sampler:
        seen.append(mechanism)
        return Importance(rate=Public("0.4"), norm=Public(2), floor=Public("0.5"))

    model = fitted(sampler=sampler_for, noise_scale=100)
    assert seen == [model.mechanism_]
    assert model.mechanism_.scale_sum.value == 100
    assert isinstance(model.sampler_, Importance)
    with pytest.raises(InvalidValue, match="noise_scale: got None"):
        fitted(sampler=sampler_for)


def test_in_pipelines_searches_and_clones() -> None:
    data = blobs()
    model = DPKMeans(n_clusters=2, epsilon=3, radius=1, sampler=Full())
    copied: Any = clone(model)
    assert copied.get_params() == model.get_params()
    pipeline = make_pipeline(Normalizer(), model).fit(data)
    assert pipeline.transform(data).shape == (900, 2)
    names: Any = pipeline.get_feature_names_out()
    assert list(names) == ["dpkmeans0", "dpkmeans1"]
    search = GridSearchCV(model, {"n_clusters": [2, 3]}, cv=2).fit(data)
    assert search.best_params_["n_clusters"] in (2, 3)
    with pytest.raises(NotFittedError):
        copied.predict(data)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"radius": None}, "radius: got None.*public bound.*not from the data"),
        ({"radius": 0}, "radius: got 0"),
        ({"radius": float("nan")}, "radius: got nan"),
        ({"epsilon": 0}, "epsilon: got 0"),
        ({"epsilon": "none"}, "epsilon: got"),
        ({"n_clusters": 0}, "clusters: got 0"),
        ({"max_iter": 0}, "iterations: got 0"),
        ({"norm": 0.5}, "norm: got 0.5"),
        ({"split": "half"}, "split: got half"),
        ({"outside": "keep"}, "outside: got keep"),
        ({"centre": [1.0, 2.0]}, "centre: got"),
        ({"centre": [1.0, 2.0, float("inf")]}, "centre: got"),
        ({"sample_size": 10}, "sample_size and population: got"),
        ({"population": 10}, "sample_size and population: got"),
        ({"sample_size": 10, "population": 5}, "sample_size: got 10"),
        ({"sample_size": 10, "population": 50, "sampler": Full()}, "sample_size and population: got"),
        ({"noise_scale": 1, "epsilon": 1}, "noise_scale: got 1"),
    ],
)
def test_bad_parameters_are_named_and_nothing_is_fitted(changes: dict[str, Any], words: str) -> None:
    model = DPKMeans(**{"n_clusters": 4, "epsilon": 2, "radius": 2, **changes})
    with pytest.raises(InvalidValue, match=words):
        model.fit(blobs())
    assert not hasattr(model, "cluster_centers_")
    assert not hasattr(model, "private_")


def test_a_statistic_of_the_data_is_no_parameter() -> None:
    with pytest.raises(PrivateValue):
        fitted(radius=Private(3))


def test_a_sampler_without_a_floor_is_refused() -> None:
    with pytest.raises(NoFiniteSupremum):
        fitted(sampler=Importance(rate=Public("0.4"), norm=Public(2)))


def test_what_was_run_is_told() -> None:
    model = fitted(norm="3/2", sample_size=9, population=10)
    assert (model.domain_.norm, model.domain_.radius.value) == (Norm("3/2"), Fraction(2))
    assert model.mechanism_.norm.value == Norm("3/2")
    assert model.sampler_ == Poisson(rate=Public("0.9"), weighted=Public(True))


def in_a_fresh_interpreter(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_scikit_learn_is_loaded_for_this_alone() -> None:
    assert "sklearn" not in in_a_fresh_interpreter("import certdp, sys; certdp.LaplaceSum; print(*sys.modules)").split()


@pytest.mark.slow
def test_without_scikit_learn_the_error_says_what_to_install() -> None:
    program = """
import sys
sys.modules["sklearn"] = None
try:
    from certdp.clustering import DPKMeans
except ImportError as error:
    print(error)
"""
    assert "pip install 'certdp[sklearn]'" in in_a_fresh_interpreter(program)


@seeded
@pytest.mark.parametrize("outside", ["clip", "drop"])
def test_records_that_stream_give_what_a_matrix_gives(tmp_path: Path, outside: str) -> None:
    data = blobs()
    np.save(tmp_path / "d.npy", data)
    options: dict[str, Any] = {
        "radius": 0.8,
        "outside": outside,
        "random_state": 3,
        "sampler": Poisson(rate=Public(0.5)),
    }
    whole = fitted(data, **options)
    with open_records(tmp_path / "d.npy") as records:
        streamed = fitted(records, **options)
    assert np.array_equal(streamed.cluster_centers_, whole.cluster_centers_)
    one, other = streamed.private_.reveal(), whole.private_.reveal()
    assert (one.inertia, one.records, one.outside) == (other.inertia, other.records, other.outside)
    assert one.sample_size == other.sample_size
    assert vars(streamed)["n_features_in_"] == 3
    with pytest.raises(InvalidValue, match="predict"):
        streamed.labels_  # noqa: B018


def test_the_cost_and_those_outside_depend_on_no_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted(blobs(), radius=0.8)
    found = model.private_.reveal()
    records = Records.of(blobs())
    chunks = Records.chunks
    monkeypatch.setattr(Records, "chunks", lambda self, rows=None: chunks(self, 7))
    streamed = fitted(records, radius=0.8)
    assert streamed.private_.reveal().outside == found.outside
    assert streamed.private_.reveal().records == 900
    assert streamed.private_.reveal().inertia == -streamed.score(blobs())


def test_memory_is_that_of_the_sample(tmp_path: Path) -> None:
    data = blobs(600_000, 2)
    np.save(tmp_path / "more.npy", data)
    np.save(tmp_path / "some.npy", data[:150_000])

    def peak(name: str, rate: str) -> int:
        with open_records(tmp_path / name) as records:
            tracemalloc.start()
            try:
                fitted(records, sampler=Poisson(rate=Public(rate)), max_iter=1)
                return tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

    peak("some.npy", "0.004")  # loads what is loaded once
    assert peak("more.npy", "0.001") < peak("some.npy", "0.004") + 300_000
