"""`certdp pws release`: from a file of counts to a private sample, and what is refused before anything is written."""

from __future__ import annotations

import json
import lzma
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from certdp import PrivateSample

Command = Callable[..., Any]

COUNTS = {"the": 14536, "of": 6625, 'a "quoted" one': 800, "rare": 3, "once": 1, "": 250, "naïve": 90}


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    place = tmp_path / "counts.tsv"
    place.write_text("".join(f"{key}\t{count}\n" for key, count in COUNTS.items()), "utf-8")
    return place


@pytest.fixture
def given(counts: Path, tmp_path: Path) -> tuple[object, ...]:
    return ("pws", "release", counts, "--epsilon", "1", "--delta", "1e-4", "--output", tmp_path / "sample.csv")


def kept(place: Path) -> list[str]:
    found: list[str] = PrivateSample.read(place).keys.to_pylist()
    return found


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("frequencies", [False, True])
def test_frequent_keys_are_reported(
    certdp: Command, counts: Path, tmp_path: Path, suffix: str, frequencies: bool
) -> None:
    place = tmp_path / f"sample.{suffix}"
    more = ["--frequencies"] if frequencies else []
    base = ("pws", "release", counts, "--epsilon", "1", "--delta", "1e-4", "--output", place)
    ran = certdp(*base, *more, "--json")
    assert ran.code == 0, ran.err
    data = ran.json
    frequent = sorted((key for key, count in COUNTS.items() if count >= 40), key=str.encode)
    assert [key for key in kept(place) if key not in ("rare", "once")] == frequent
    assert data["reported"] == len(kept(place))
    assert data["is_private"] is True
    assert (data["unit"], data["relation"], data["coins"]) == ("element", "add-remove", "operating system")
    assert data["epsilon"] == [None, 1.0]
    assert Fraction(data["delta"][1]) >= Fraction("1e-4") > Fraction(data["delta"][1]) - Fraction(1, 10**19)
    assert data["with_frequencies"] == frequencies
    assert data["private"]["keys"] == len(COUNTS)
    assert "not for publication" in data["private"]["notice"]


def test_what_is_written_is_a_function_of_the_sample_alone(
    certdp: Command, given: tuple[object, ...], counts: Path, tmp_path: Path
) -> None:
    """Two data sets of which the same keys are reported leave the same bytes."""
    written = []
    for content in ("of\t6625\nthe\t14536\n", "the\t777\nof\t888\n"):
        counts.write_text(content, "utf-8")
        ran = certdp(*given, "--certificate", tmp_path / "certificate.json", "--overwrite", "--json")
        assert (ran.code, ran.json["reported"]) == (0, 2), ran.err
        places = [tmp_path / name for name in ("sample.csv", "sample.csv.json", "certificate.json")]
        written.append([place.read_bytes() for place in places])
    assert written[0] == written[1]


@pytest.mark.parametrize(
    "more",
    [
        [],
        ["--frequencies"],
        ["--threshold", "0.01"],
        ["--scheme", "pps", "--threshold", "0.01", "--frequencies"],
        ["--scheme", "ppswor", "--threshold", "0.1", "--power", "0.5"],
        ["--threshold", "0.05", "--frequencies", "--max-frequency", "100"],
        ["--user-bound", "3", "--threshold", "0.01"],
        ["--size", "3", "--total", "22305"],
        ["--size", "3", "--total-epsilon", "0.5"],
        ["--size", "3", "--total-epsilon", "0.5", "--user-bound", "2"],
        ["--size", "3", "--total-epsilon", "0.5", "--power", "0"],
        ["--size", "3", "--total-epsilon", "0.5", "--power", "0.5"],
        ["--size", "3", "--total-epsilon", "0.5", "--power", "2", "--max-frequency", "50"],
        ["--epsilon", "0"],
    ],
    ids=" ".join,
)
def test_certificates_hold(certdp: Command, given: tuple[object, ...], tmp_path: Path, more: list[str]) -> None:
    ran = certdp(*given, *more, "--certificate", tmp_path / "certificate.json", "--json")
    assert ran.code == 0, (ran.out, ran.err)
    checked = certdp("check", tmp_path / "certificate.json", "--json")
    released = "--total-epsilon" in more  # what the total size cost is its author's word
    assert checked.code == (3 if released else 0), checked.out
    claim = json.loads((tmp_path / "certificate.json").read_bytes())["claim"]
    assert claim["unit"] == ran.json["unit"] == ("user" if "--user-bound" in more else "element")
    total = 1.5 if "--total-epsilon" in more else 0 if "--epsilon" in more else 1
    assert total <= ran.json["epsilon"][1] < total + 1e-9
    assert ran.json["delta"][1] == pytest.approx(1e-4, rel=1e-9)


def test_the_file_s_counts_are_added_up_where_asked(certdp: Command, tmp_path: Path) -> None:
    log = tmp_path / "log.tsv"
    log.write_text("".join("page\n" if number % 3 else "other\n" for number in range(900)), "utf-8")
    place = tmp_path / "sample.csv"
    base = ("pws", "release", log, "--epsilon", "1", "--delta", "1e-4", "--output", place)
    assert certdp(*base, "--aggregate", "--json").code == 0
    assert kept(place) == ["other", "page"]


def test_named_columns_and_compressed_files(certdp: Command, tmp_path: Path) -> None:
    source = tmp_path / "counts.csv.xz"
    source.write_bytes(lzma.compress(b"n,word,extra\n500,one,1\n700,two,2\n"))
    place = tmp_path / "sample.csv"
    base = ("pws", "release", source, "--epsilon", "1", "--delta", "1e-4", "--output", place)
    assert certdp(*base, "--key", "word", "--count", "n", "--json").code == 0
    assert kept(place) == ["one", "two"]


def test_no_keys_at_all(certdp: Command, given: tuple[object, ...], counts: Path, tmp_path: Path) -> None:
    counts.write_text("", "utf-8")
    ran = certdp(*given, "--size", "10", "--total-epsilon", "1", "--json")
    assert ran.code == 0, ran.err
    assert (ran.json["reported"], kept(tmp_path / "sample.csv")) == (0, [])


def test_delta_1_reports_every_key(certdp: Command, given: tuple[object, ...], tmp_path: Path) -> None:
    assert certdp(*given, "--delta", "1", "--json").code == 0
    assert kept(tmp_path / "sample.csv") == sorted(COUNTS, key=str.encode)


def test_for_people(certdp: Command, given: tuple[object, ...], tmp_path: Path) -> None:
    ran = certdp(*given, "--threshold", "0.5", "--owner-report", tmp_path / "report.json")
    assert ran.code == 0, ran.err
    assert "(1.0, 0.0001)-DP for one element, add-remove; pws-keys on a sample by ppswor" in ran.out
    assert "for the data's owner only, not for publication" in ran.out
    assert "baseline" in ran.out
    report = json.loads((tmp_path / "report.json").read_bytes())
    assert (report["keys"], report["bands"][0]["frequencies"]) == (len(COUNTS), [1, 1])
    assert "not for publication" in report["notice"]
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "report.json").stat().st_mode) == 0o600


def test_a_seeded_run_says_that_it_is_not_private(certdp: Command, given: tuple[object, ...], tmp_path: Path) -> None:
    samples = []
    for seed in (3, 3):
        ran = certdp(*given, "--threshold", "0.001", "--seed", seed, "--overwrite", "--json")
        assert ran.code == 0
        samples.append((tmp_path / "sample.csv").read_bytes())
    assert samples[0] == samples[1]
    assert (ran.json["is_private"], ran.json["epsilon"], ran.json["delta"], ran.json["coins"]) == (
        *(False, None, None),
        "seeded",
    )
    assert "not private, seeded coins" in certdp(*given, "--seed", 1, "--overwrite").out
    assert not PrivateSample.read(tmp_path / "sample.csv").statement.private


def test_a_certificate_of_a_seeded_run_is_refused(
    refusal: Callable[..., dict[str, str]], given: tuple[object, ...], tmp_path: Path
) -> None:
    error = refusal(*given, "--seed", 1, "--certificate", tmp_path / "certificate.json")
    assert error["parameter"] == "seed"


# What is refused, before anything is written


@pytest.mark.parametrize(
    ("more", "parameter"),
    [
        (["--delta", "0"], "delta"),
        (["--delta", "2"], "delta"),
        (["--epsilon", "-1"], "epsilon"),
        (["--epsilon", "inf"], "epsilon"),
        (["--scheme", "pps"], "threshold"),
        (["--scheme", "none", "--size", "5", "--total", "9"], "size"),
        (["--scheme", "all", "--threshold", "1"], "scheme"),
        (["--threshold", "-1"], "threshold"),
        (["--threshold", "1", "--size", "5"], "size"),
        (["--total", "1"], "total"),
        (["--total-epsilon", "1"], "total-epsilon"),
        (["--size", "5"], "total"),
        (["--size", "5", "--total", "9", "--total-epsilon", "1"], "total"),
        (["--size", "0", "--total", "9"], "size"),
        (["--size", "5", "--total", "0"], "total"),
        (["--size", "5", "--total-epsilon", "0"], "total-epsilon"),
        (["--size", "5", "--total-epsilon", "1", "--power", "2"], "power"),
        (["--max-frequency", "0"], "max-frequency"),
        (["--user-bound", "1.5"], "user-bound"),
    ],
)
def test_refusals(
    refusal: Callable[..., dict[str, str]],
    given: tuple[object, ...],
    tmp_path: Path,
    more: list[str],
    parameter: str,
) -> None:
    before = sorted(tmp_path.iterdir())
    assert refusal(*given, *more, "--certificate", tmp_path / "certificate.json")["parameter"] == parameter
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "content",
    ["a\t0\n", "a\t-3\n", "a\t1.5\n", "a\tnan\n", "a\t\n", "a\t9007199254740993\n", "a\t2\nb\t3\na\t4\n", "a\tb\tc\n"],
)
def test_bad_counts_leave_nothing_behind(
    refusal: Callable[..., dict[str, str]], given: tuple[object, ...], counts: Path, tmp_path: Path, content: str
) -> None:
    counts.write_text(content, "utf-8")
    refusal(*given, "--certificate", tmp_path / "certificate.json", "--owner-report", tmp_path / "report.json")
    assert list(tmp_path.iterdir()) == [counts]


@pytest.mark.parametrize("name", ["sample.csv", "sample.csv.json", "certificate.json", "report.json"])
def test_what_exists_is_not_replaced_unasked(
    refusal: Callable[..., dict[str, str]], certdp: Command, given: tuple[object, ...], tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes(b"mine")
    whole = (*given, "--certificate", tmp_path / "certificate.json", "--owner-report", tmp_path / "report.json")
    error = refusal(*whole)
    assert name in error["value"]
    assert "--overwrite" in error["remedy"]
    assert (tmp_path / name).read_bytes() == b"mine"
    assert len(list(tmp_path.iterdir())) == 2
    assert certdp(*whole, "--overwrite", "--json").code == 0
    assert (tmp_path / name).read_bytes() != b"mine"


@pytest.mark.parametrize(
    "clash",
    [
        ("--certificate", "sample.csv"),
        ("--certificate", "sample.csv.json"),
        ("--owner-report", "sample.csv"),
        ("--owner-report", "counts.tsv"),
        ("--certificate", "missing/certificate.json"),
    ],
)
def test_places_that_cannot_be(
    refusal: Callable[..., dict[str, str]], given: tuple[object, ...], tmp_path: Path, clash: tuple[str, str]
) -> None:
    before = sorted(tmp_path.iterdir())
    refusal(*given, clash[0], tmp_path / clash[1], *(["--overwrite"] if clash[1] == "counts.tsv" else []))
    assert sorted(tmp_path.iterdir()) == before


def test_another_suffix(refusal: Callable[..., dict[str, str]], counts: Path, tmp_path: Path) -> None:
    base = ("pws", "release", counts, "--epsilon", "1", "--delta", "1e-4", "--output", tmp_path / "sample.npy")
    assert refusal(*base)["parameter"] == "output"


def test_a_missing_file(refusal: Callable[..., dict[str, str]], given: tuple[object, ...], counts: Path) -> None:
    counts.unlink()
    assert str(counts) in refusal(*given)["value"]


_STOPS = """
import sys, time
from certdp.commands.app import app
from certdp.weighted_sampling.counts import CountStream

read = CountStream.chunks

def chunks(stream):
    yield from read(stream)
    print("all keys are drawn", file=sys.__stdout__, flush=True)
    time.sleep(60)

CountStream.chunks = chunks
app(sys.argv[1:])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_run_leaves_nothing(
    given: tuple[object, ...], counts: Path, tmp_path: Path, ending: signal.Signals
) -> None:
    """It is stopped between the last draw and the first output."""
    command = [sys.executable, "-c", _STOPS, *map(str, given), "--certificate", str(tmp_path / "certificate.json")]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert running.stdout is not None
        assert running.stdout.readline() == "all keys are drawn\n"
        running.send_signal(ending)
        running.communicate()
    finally:
        running.kill()
    assert running.returncode != 0
    assert list(tmp_path.iterdir()) == [counts]
