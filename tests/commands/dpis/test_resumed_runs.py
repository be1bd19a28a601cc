"""`certdp dpis train --resume`: what goes on, what does not, and who may read what a run leaves."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certdp.dpis.engine import _Run  # pyright: ignore[reportPrivateUsage]

Command = Callable[..., Any]
RUN = ("--records", 200, "--batch", 20, "--epochs", 2, "--epsilon", 8, "--delta", "1e-5", "--order", 4)
PUBLISHED = ("run.json", "history.csv", "model.npz")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("files") / "data.npz"
    random = np.random.default_rng(0)
    np.savez(path, X=random.standard_normal((200, 3)), y=random.integers(0, 2, 200), other=np.ones((200, 3)))
    return path


def arguments(source: Path, out: Path) -> tuple[object, ...]:
    model = ("--model", "logistic", "--classes", 2, "--norm-noise", 6, "--checkpoint-every", 3)
    return ("dpis", "train", "--data", source, "--target", "y", *RUN, *model, "--output", out)


@pytest.fixture
def interrupted(source: Path, certdp: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Begins a run that is interrupted as it is about to take its sixth step; what was printed."""

    def begin(*options: object) -> Any:
        taken = 0
        step = _Run._take_step  # pyright: ignore[reportPrivateUsage]

        def stopped(self: Any, noise: Any) -> None:
            nonlocal taken
            taken += 1
            if taken == 6:
                raise KeyboardInterrupt
            step(self, noise)

        with monkeypatch.context() as patched:
            patched.setattr(_Run, "_take_step", stopped)
            return certdp(*arguments(source, tmp_path / "out"), *options)

    return begin


def modes(out: Path) -> set[int]:
    return {stat.S_IMODE((out / name).stat().st_mode) & 0o077 for name in PUBLISHED}


@pytest.mark.slow
def test_a_seeded_run_resumed_without_its_seed_claims_nothing(
    interrupted: Command, source: Path, certdp: Command, tmp_path: Path
) -> None:
    assert interrupted("--seed", 1).code == 130
    ended = certdp(*arguments(source, tmp_path / "out"), "--resume", "--json")
    assert ended.code == 0
    assert (ended.json["private_coins"], ended.json["epsilon"], ended.json["assumptions"]) == (False, None, [])
    public = json.loads((tmp_path / "out/run.json").read_text("utf-8"))
    assert not public["private_coins"]
    assert "not for publication" in public["notice"]
    assert modes(tmp_path / "out") == {0}
    assert "not private" in certdp(*arguments(source, tmp_path / "out"), "--resume").out


def test_a_certificate_of_a_seeded_run_is_refused_before_it_goes_on(
    interrupted: Command, source: Path, certdp: Command, refusal: Command, tmp_path: Path
) -> None:
    interrupted("--seed", 1)
    certificate = tmp_path / "run.certificate.json"
    checkpoint = (tmp_path / "out/private-checkpoint.npz").read_bytes()
    found = refusal(*arguments(source, tmp_path / "out"), "--resume", "--certificate", certificate)
    assert (found["parameter"], found["admissible"]) == ("certificate", "nothing for a run of which a part was seeded")
    assert (tmp_path / "out/private-checkpoint.npz").read_bytes() == checkpoint
    assert not certificate.exists()


@pytest.mark.slow
def test_what_a_private_run_leaves_may_be_read_and_a_seeded_part_ends_that(
    source: Path, certdp: Command, tmp_path: Path
) -> None:
    whole = certdp(*arguments(source, tmp_path / "out"), "--json").json
    assert whole["notice"] is None
    assert whole["theorem"] == "Asoodeh et al. 2021 Theorem 3 ⇐ Feldman, Zrnic 2021 Rényi filter"
    assert all(modes(tmp_path / "out"))
    certdp(*arguments(source, tmp_path / "out"), "--resume", "--seed", 1)
    assert modes(tmp_path / "out") == {0}


@pytest.mark.slow
def test_a_seeded_run_goes_on_as_if_nobody_had_interrupted_it(
    interrupted: Command, source: Path, certdp: Command, tmp_path: Path
) -> None:
    whole = certdp(*arguments(source, tmp_path / "whole"), "--seed", 1, "--json").json
    interrupted("--seed", 1)
    assert certdp(*arguments(source, tmp_path / "out"), "--seed", 1, "--resume", "--json").json == whole


@pytest.mark.slow
def test_an_interrupted_run_says_where_it_stands(
    interrupted: Command, source: Path, certdp: Command, tmp_path: Path
) -> None:
    ended = interrupted("--json")
    assert ended.code == 130
    assert "interrupted in epoch 1 of 2, 5 of 10 steps taken, ε ≤ " in ended.err
    assert "--resume" in ended.err
    assert certdp(*arguments(source, tmp_path / "out"), "--resume", "--json").json["epochs"]["steps"] == [10, 10]


OTHERS: dict[str, tuple[tuple[object, ...], ...]] = {
    "data": (("--array", "other"), ("--divide-by", 2)),
    "optimiser": (("--learning-rate", "0.1"), ("--optimiser", "adam")),
    "model": (("--model", "mlp"),),
    "resume": (("--floor", "0.1"), ("--batch", 21)),
}


def test_other_options_are_refused_and_change_nothing(
    interrupted: Command, source: Path, refusal: Command, tmp_path: Path
) -> None:
    interrupted()
    before = (tmp_path / "out/private-checkpoint.npz").read_bytes()
    for parameter, changes in OTHERS.items():
        for changed in changes:
            assert refusal(*arguments(source, tmp_path / "out"), *changed, "--resume")["parameter"] == parameter
    assert (tmp_path / "out/private-checkpoint.npz").read_bytes() == before


@pytest.mark.slow
def test_a_folder_without_a_run_is_no_dead_end(source: Path, certdp: Command, refusal: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    assert "without --resume" in refusal(*arguments(source, out), "--resume")["remedy"]
    assert not list(out.iterdir())
    (out / "private-checkpoint.npz.lock").touch()  # all that a run leaves that ends as soon as it begins
    assert certdp(*arguments(source, out), "--json").code == 0
    (out / "private-checkpoint.npz").unlink()
    assert "--resume" not in refusal(*arguments(source, out))["remedy"]
