"""`certdp pws sample`, `merge` and `sanitise`: true frequencies for their owner, and what is made private of them."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from certdp import PrivateSample, ThresholdSample

Command = Callable[..., Any]
Refusal = Callable[..., dict[str, str]]

FREQUENT = {"the": 14536, "of": 6625, "rare": 3}
OTHERS = {"whale": 1200, "sea": 455, "once": 1}


def counts_file(place: Path, counts: dict[str, int]) -> Path:
    place.write_text("".join(f"{key}\t{count}\n" for key, count in counts.items()), "utf-8")
    return place


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return counts_file(tmp_path / "one.tsv", FREQUENT)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return counts_file(tmp_path / "other.tsv", OTHERS)


@pytest.fixture
def sampled(certdp: Command, one: Path, tmp_path: Path) -> Path:
    place = tmp_path / "sample.parquet"
    assert certdp("pws", "sample", one, "--threshold", "0.01", "--output", place).code == 0
    return place


BUDGET = ("--epsilon", "1", "--delta", "1e-4")


def test_a_sample_is_not_private_and_says_so(certdp: Command, one: Path, tmp_path: Path) -> None:
    place = tmp_path / "sample.csv"
    ran = certdp("pws", "sample", one, "--threshold", "0.01", "--output", place, "--json")
    assert ran.code == 0, ran.err
    data = ran.json
    assert (data["is_private"], data["sanitisable"], data["coins"]) == (False, True, "operating system")
    assert data["sampler"] == {"name": "ppswor", "options": {"threshold": "1/100", "power": "1"}}
    assert "not for publication" in data["private"]["notice"]
    sample = ThresholdSample.read(place)
    assert dict(zip(sample.keys.to_pylist(), sample.counts.tolist(), strict=True)).items() <= FREQUENT.items()
    assert {"the", "of"} <= set(sample.keys.to_pylist())
    if os.name == "posix":
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
    text = certdp("pws", "sample", one, "--threshold", "0.01", "--output", place, "--overwrite").out
    assert text.startswith("not private: ")
    assert "certdp pws sanitise makes it private" in text


@pytest.mark.parametrize("frequencies", [False, True])
def test_sampled_merged_and_sanitized(
    certdp: Command, sampled: Path, other: Path, tmp_path: Path, frequencies: bool
) -> None:
    second, both, out = tmp_path / "second.csv", tmp_path / "both.parquet", tmp_path / "out.csv"
    assert certdp("pws", "sample", other, "--threshold", "0.01", "--output", second).code == 0
    assert certdp("pws", "merge", sampled, second, "--output", both, "--json").json["sanitisable"] is True
    tokens = ["--frequencies", "--max-frequency", "2000"] if frequencies else []
    more = [*tokens, "--certificate", tmp_path / "certificate.json"]
    ran = certdp("pws", "sanitise", both, *BUDGET, "--output", out, *more, "--json")
    assert ran.code == 0, ran.err
    data = ran.json
    assert (data["is_private"], data["unit"], data["epsilon"]) == (True, "element", [None, 1.0])
    assert data["sampler"]["options"]["threshold"] == "1/100"
    released = PrivateSample.read(out)
    assert {"the", "of", "whale"} <= set(released.keys.to_pylist())
    assert (released.tokens is not None) == frequencies
    assert "14536" not in out.read_text("utf-8")
    assert certdp("check", tmp_path / "certificate.json", "--json").code == 0
    text = certdp("pws", "sanitise", both, *BUDGET, "--output", out, "--overwrite").out
    assert "(1.0, 0.0001)-DP for one element" in text
    assert "keys had been sampled" in text


def test_for_users_and_with_a_largest_frequency(certdp: Command, sampled: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    more = ("--user-bound", "2", "--max-frequency", "100", "--frequencies")
    data = certdp("pws", "sanitise", sampled, *BUDGET, "--output", out, *more, "--json").json
    assert (data["unit"], data["contributions"]) == ("user", 2)
    assert data["mechanism"]["options"]["largest"] == "100"
    released = PrivateSample.read(out)
    assert released.tokens is not None
    assert released.tokens.max(initial=0) < 100 << 32


@pytest.mark.parametrize(
    ("more", "because"),
    [
        (["--bottom", "2"], "realised from the data"),
        (["--bottom", "2", "--scheme", "pps"], "realised from the data"),
        (["--threshold", "0.01", "--coordinated", "salt"], "knows the salt"),
        (["--threshold", "0.01", "--seed", "3"], "knows the seed"),
    ],
)
def test_samples_that_cannot_be_made_private(
    certdp: Command, refusal: Refusal, one: Path, tmp_path: Path, more: list[str], because: str
) -> None:
    place, out = tmp_path / "sample.csv", tmp_path / "out.csv"
    ran = certdp("pws", "sample", one, *more, "--output", place)
    assert ran.code == 0, ran.err
    assert because in ran.out
    assert "It cannot be made private" in ran.out
    assert because in refusal("pws", "sanitise", place, *BUDGET, "--output", out)["remedy"]
    assert not out.exists()


def test_coordinated_samples_agree(certdp: Command, one: Path, tmp_path: Path) -> None:
    places = [tmp_path / "first.csv", tmp_path / "second.csv"]
    for place in places:
        more = ("--threshold", "0.0001", "--coordinated", "salt", "--output", place)
        assert certdp("pws", "sample", one, *more).code == 0
    assert places[0].read_bytes() == places[1].read_bytes()


@pytest.mark.parametrize(
    ("more", "parameter"),
    [
        (["--scheme", "ppswor"], "threshold"),
        (["--threshold", "0.01", "--scheme", "none"], "threshold"),
        (["--bottom", "0"], "bottom"),
        (["--bottom", "2", "--threshold", "0.01"], "threshold"),
        (["--bottom", "2", "--scheme", "none"], "scheme"),
        (["--threshold", "0.01", "--coordinated", "x", "--seed", "1"], "seed"),
        (["--threshold", "0.01", "--coordinated", "x" * 65], "salt"),
    ],
)
def test_refusals(refusal: Refusal, one: Path, tmp_path: Path, more: list[str], parameter: str) -> None:
    assert refusal("pws", "sample", one, *more, "--output", tmp_path / "sample.csv")["parameter"] == parameter
    assert list(tmp_path.iterdir()) == [one]


def test_samples_with_a_common_key_do_not_merge(refusal: Refusal, sampled: Path, tmp_path: Path) -> None:
    error = refusal("pws", "merge", sampled, sampled, "--output", tmp_path / "both.csv")
    assert "without a common key" in error["admissible"]


def test_any_number_of_samples_merge(certdp: Command, refusal: Refusal, tmp_path: Path) -> None:
    places = []
    for name in "abcd":
        counts = tmp_path / f"{name}.tsv"
        counts.write_text("".join(f"{name}{number}\t{number + 1}\n" for number in range(5)))
        places.append(tmp_path / f"{name}.csv")
        drawn = certdp("pws", "sample", counts, "--threshold", "1000", "--coordinated", "salt", "--output", places[-1])
        assert drawn.code == 0, drawn.err
    pairs = [tmp_path / name for name in ("ab.csv", "abc.csv", "abcd.csv")]
    for place, (one, other) in zip(pairs, [places[:2], (pairs[0], places[2]), (pairs[1], places[3])], strict=True):
        assert certdp("pws", "merge", one, other, "--output", place).code == 0
    assert certdp("pws", "merge", *places, "--output", tmp_path / "at-once.csv").code == 0
    assert (tmp_path / "at-once.csv").read_bytes() == pairs[-1].read_bytes()
    error = refusal("pws", "merge", *places, pairs[0], "--output", tmp_path / "twice.csv")
    assert error["value"].endswith("ab.csv")
    assert refusal("pws", "merge", places[0], "--output", tmp_path / "one.csv")["parameter"] == "samples"


def test_samples_by_different_schemes_do_not_merge(
    certdp: Command, refusal: Refusal, sampled: Path, other: Path, tmp_path: Path
) -> None:
    second = tmp_path / "second.csv"
    assert certdp("pws", "sample", other, "--threshold", "0.02", "--output", second).code == 0
    refusal("pws", "merge", sampled, second, "--output", tmp_path / "both.csv")
    assert not (tmp_path / "both.csv").exists()


def test_what_is_private_already_is_not_sanitized_again(
    certdp: Command, refusal: Refusal, sampled: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    assert certdp("pws", "sanitise", sampled, *BUDGET, "--output", out).code == 0
    refusal("pws", "sanitise", out, *BUDGET, "--output", tmp_path / "again.csv")
    assert not (tmp_path / "again.csv").exists()


def test_nothing_is_replaced_unasked(refusal: Refusal, sampled: Path, one: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.csv"
    mine.write_bytes(b"mine")
    for command in (
        ("sample", one, "--threshold", "0.01"),
        ("merge", sampled, sampled),
        ("sanitise", sampled, *BUDGET),
    ):
        assert "--overwrite" in refusal("pws", *command, "--output", mine)["remedy"]
    assert mine.read_bytes() == b"mine"


def test_a_sample_is_not_written_over_what_it_is_made_from(refusal: Refusal, sampled: Path, tmp_path: Path) -> None:
    before = sampled.read_bytes()
    for command in (("merge", sampled, sampled), ("sanitise", sampled, *BUDGET)):
        refusal("pws", *command, "--output", sampled, "--overwrite")
    assert sampled.read_bytes() == before


def test_damaged_samples(refusal: Refusal, certdp: Command, sampled: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.csv"
    sample = ThresholdSample.read(sampled)
    sample.write(text)
    text.write_bytes(text.read_bytes().replace(b"14536", b"14537"))
    refusal("pws", "sanitise", text, *BUDGET, "--output", tmp_path / "out.csv")
    sampled.write_bytes(sampled.read_bytes()[:-9])
    refusal("pws", "sanitise", sampled, *BUDGET, "--output", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_the_statement_beside_is_plain_json(certdp: Command, one: Path, tmp_path: Path) -> None:
    place = tmp_path / "sample.csv"
    assert certdp("pws", "sample", one, "--bottom", "2", "--power", "0.5", "--output", place).code == 0
    statement = json.loads((tmp_path / "sample.csv.json").read_bytes())["statement"]
    assert statement["private"] is False
    assert statement["rule"]["options"]["power"] == "1/2"
