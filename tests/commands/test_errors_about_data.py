"""Errors about data say where and what is admissible; what was there is shown where it is asked for alone."""

from __future__ import annotations

import io
import lzma
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from certdp import Reading, read_records
from certdp.accounting.errors import CertdpError
from certdp.commands.app import app
from certdp.dpis.models.files import LabelledReading, read_labelled
from certdp.plugins.contract import WeightedSample, as_records
from certdp.weighted_sampling.counts import KeyCounts, open_counts
from tests.support.record_files import parquet_of

Run = Callable[..., Any]

TEXT, NUMBER, LARGE = "canary7301", 730173017301.5, 7301730173017301730
_TOLD = (TEXT, TEXT[:8], "730173017301")


def npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array), allow_pickle=True)
    return stream.getvalue()


RECORDS: dict[str, bytes] = {
    "text.csv": f"a,b\n1,2\n3,{TEXT}\n".encode(),
    "quoted.csv": f'a,b\n1,2\n3,"{TEXT}\n'.encode(),
    "no header.csv": f"1,{NUMBER}\n3,4\n".encode(),
    "no header but text.csv": f"{TEXT},{TEXT}2\n3,x\n".encode(),
    "short.csv": f"a,b\n1,2\n{NUMBER}\n".encode(),
    "long.csv": f"a,b\n1,2\n1,2,{NUMBER}\n".encode(),
    "large.csv": b"a,b\n1,2\n73017301730173017301730,2\n",
    "latin.csv": f"a,b\n1,{TEXT}\xff\n".encode("latin-1"),
    "text.npy": npy([[TEXT, "1"]]),
    "object.npy": npy(np.array([[TEXT]], dtype=object)),
    "vector.npy": npy([NUMBER]),
    "header.npy": npy([[1.0]])[:10] + f"{{'{TEXT}'".encode() + npy([[1.0]])[10:],
    "large.npy": npy(np.array([[7301730173017301730, 1]])),
    "text.npz": npz(X=np.array([[TEXT]])),
    "text.parquet": parquet_of(a=[TEXT, "b"]),
    "none.parquet": parquet_of(a=[NUMBER, None]),
    "damaged.parquet": parquet_of(a=[NUMBER, 1.0])[:-9] + TEXT.encode(),
    "damaged.csv.xz": lzma.compress(f"a,b\n{TEXT},2\n".encode())[:-5],
}
LABELLED: dict[str, bytes] = {
    "label.csv": f"x,y\n1,0\n2,{NUMBER}\n".encode(),
    "text.csv": f"x,y\n1,0\n2,{TEXT}\n".encode(),
    "other names.csv": f"{TEXT},{TEXT}2\n1,0\n".encode(),
    "label.npz": npz(X=np.ones((2, 2)), y=np.array([0, NUMBER])),
    "negative.npz": npz(X=np.ones((2, 2)), y=np.array([0, -730173017301])),
    "text.npz": npz(X=np.ones((2, 2)), y=np.array([TEXT, "a"])),
    "object.npz": npz(X=np.array([[TEXT]], dtype=object), y=np.array([0])),
    "label.parquet": parquet_of(x=[1.0, 2.0], y=[0.0, NUMBER]),
}
KEYED: dict[str, bytes] = {
    "count.tsv": f"the\t5\nof\t{TEXT}\n".encode(),
    "fraction.csv": f"the,5\nof,{NUMBER}\n".encode(),
    "large.csv": b"the,5\nof,73017301730173017301\n",
    "twice.csv": f"{TEXT},5\n{TEXT},6\n".encode(),
    "twice.tsv": f"{TEXT}\t5\nof\t2\n{TEXT}\t6\n".encode(),
    "wide.csv": f"the,5\nof,{TEXT},6\n".encode(),
    "narrow.tsv": f"the\t5\n{TEXT}\n".encode(),
    "first.csv": f"{TEXT},x,y\nof,1,2\n".encode(),
    "zero.parquet": parquet_of(key=["a", TEXT], count=[1, 0]),
    "names.parquet": parquet_of(**{TEXT: ["a"], "n": [1], "m": [2]}),
    "none.parquet": parquet_of(key=["a", None, TEXT], count=[1, 2, 3]),
    "text.parquet": parquet_of(key=["a"], count=[TEXT]),
}
SAMPLES: dict[str, bytes] = {
    "sample.tsv": f"key\n{TEXT}\n".encode(),
    "sample.csv": f"key,count\n{TEXT},{NUMBER}\n".encode(),
    "sample.parquet": parquet_of(key=[TEXT], count=[NUMBER]),
}

LAPLACE = ("--mechanism", "laplace-sum", "--option", "scale=5", "--option", "radius=1")
COMMANDS: dict[str, tuple[dict[str, bytes], Callable[[Path, Path], tuple[object, ...]]]] = {
    "psi": (RECORDS, lambda data, _: ("psi", *LAPLACE, "--sampler", "poisson", "--option", "rate=0.5", "--data", data)),
    "weights": (
        RECORDS,
        lambda data, out: ("weights", *LAPLACE, "--epsilon", "1", "--data", data, "--output", out / "w.csv"),
    ),
    "cluster": (
        RECORDS,
        lambda data, out: (
            *("cluster", "--data", data, "--epsilon", "1", "--clusters", "2", "--option", "radius=1"),
            *("--sampler", "full", "--output", out / "c.csv"),
        ),
    ),
    "check": (RECORDS, lambda data, out: ("check", out / "certificate.json", "--data", data)),
    "reproduce": (RECORDS, lambda data, out: ("reproduce", "is-fig1", "--data", data, "--output", out)),
    "plugins check": (RECORDS, lambda data, _: ("plugins", "check", "laplace-sum", "--data", data)),
    "dpis train": (
        LABELLED,
        lambda data, out: (
            *("dpis", "train", "--data", data, "--target", "y", "--output", out / "run", "--epsilon", "8"),
            *("--delta", "1e-5", "--records", "300", "--batch", "20", "--epochs", "2", "--order", "4"),
            *("--classes", "2", "--model", "logistic", "--norm-noise", "6"),
        ),
    ),
    "pws release": (
        KEYED,
        lambda data, out: (
            *("pws", "release", data, "--epsilon", "1", "--delta", "1e-3", "--output", out / "s.csv"),
            *("--owner-report", out / "r.json"),
        ),
    ),
    "pws sample": (
        KEYED,
        lambda data, out: ("pws", "sample", data, "--scheme", "ppswor", "--threshold", "1", "--output", out / "s.csv"),
    ),
    "pws merge": (SAMPLES, lambda data, out: ("pws", "merge", data, data, "--output", out / "s.csv")),
    "pws sanitise": (
        SAMPLES,
        lambda data, out: (*("pws", "sanitise", data, "--epsilon", "1", "--delta", "1e-3", "--output", out / "s.csv"),),
    ),
    "pws estimate": (SAMPLES, lambda data, _: ("pws", "estimate", data)),
}
CASES = [(command, name) for command, (files, _) in COMMANDS.items() for name in files]


def _leaked(text: str) -> list[str]:
    return [told for told in _TOLD if told in text]


@pytest.fixture(scope="module")
def certificate(certdp: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of an owner, which asks for the data."""
    folder = tmp_path_factory.mktemp("certificate")
    np.save(folder / "d.npy", np.ones((2, 2)))
    path = folder / "certificate.json"
    asked = ("psi", *LAPLACE, "--sampler", "poisson", "--option", "rate=0.5", "--data", folder / "d.npy")
    assert certdp(*asked, "--owner-certificate", path).code == 0
    return path


@pytest.mark.parametrize(("command", "name"), CASES)
def test_no_command_tells_what_data_it_refuses(
    certdp: Run, certificate: Path, tmp_path: Path, command: str, name: str
) -> None:
    files, words = COMMANDS[command]
    (tmp_path / "certificate.json").write_bytes(certificate.read_bytes())
    (tmp_path / name).write_bytes(files[name])
    asked = words(tmp_path / name, tmp_path)
    for ran in (certdp(*asked), certdp(*asked, "--json")):
        assert ran.code == 2, ran
        assert "--help" not in ran.out + ran.err  # the command line itself can be read
        assert not _leaked(ran.out + ran.err)
    shown = certdp(*asked, "--show-values")
    assert shown.code == 2
    assert not _leaked(shown.out)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("psi", "text.csv"),
        ("weights", "short.csv"),
        ("cluster", "no header.csv"),
        ("dpis train", "label.npz"),
        ("pws release", "count.tsv"),
        ("pws sample", "twice.csv"),
    ],
)
def test_the_owner_may_ask_for_it(certdp: Run, tmp_path: Path, command: str, name: str) -> None:
    files, words = COMMANDS[command]
    (tmp_path / name).write_bytes(files[name])
    asked = (*words(tmp_path / name, tmp_path), "--show-values")
    assert _leaked(certdp(*asked).err)
    error = certdp(*asked, "--json").json["error"]
    assert _leaked(error.pop("private_found"))
    assert not _leaked(str(error))


def test_every_command_that_reads_data_is_in_the_table() -> None:
    found = set()

    def walk(group: Any, before: tuple[str, ...]) -> None:
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                walk(command, (*before, name))
            elif any(option.name == "show_values" for option in command.params):
                found.add(" ".join((*before, name)))
            elif name != "mutants":  # whose sample is one of faults
                reads = {"data", "counts", "sample", "first", "second", "samples"} & {p.name for p in command.params}
                assert not reads, f"{name} reads data and cannot be asked to show values"

    walk(typer.main.get_command(app), ())
    assert found == set(COMMANDS)


READERS: list[tuple[dict[str, bytes], Callable[[Path], object]]] = [
    (RECORDS, read_records),
    (RECORDS, lambda path: read_records(path, Reading(transpose=True))),
    (LABELLED, lambda path: read_labelled(path, LabelledReading(target="y"))),
    (KEYED, lambda path: _all_counts(path, aggregate=False)),
]


def _all_counts(path: Path, aggregate: bool) -> None:
    with open_counts(path, aggregate=aggregate) as stream:
        list(stream.chunks())


@pytest.mark.parametrize(("files", "read"), READERS)
def test_no_reader_tells_what_it_refuses(
    files: dict[str, bytes], read: Callable[[Path], object], tmp_path: Path
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(CertdpError) as caught:
            read(tmp_path / name)
        _check_nothing_leaked(caught.value)


@pytest.mark.parametrize(
    "use",
    [
        lambda: as_records([[TEXT]]),
        lambda: as_records([[NUMBER], [NUMBER, 1]]),
        lambda: as_records([[NUMBER, np.nan]]),
        lambda: as_records([[LARGE]]),
        lambda: as_records({TEXT: NUMBER}),  # type: ignore[arg-type]
        lambda: WeightedSample([[NUMBER]], [0.5]),
        lambda: WeightedSample([[NUMBER]], [NUMBER, NUMBER]),
        lambda: KeyCounts.of({TEXT: 0}),
        lambda: KeyCounts.of({TEXT: NUMBER}),
        lambda: KeyCounts.of({TEXT: TEXT}),
        lambda: KeyCounts.of({NUMBER: 1}),
        lambda: KeyCounts.of([TEXT, NUMBER]),
        lambda: KeyCounts.of(TEXT),
        lambda: KeyCounts.of(([TEXT, TEXT], [1, 2])),
        lambda: KeyCounts.of(([TEXT, TEXT], [1 << 53, 1 << 53]), aggregate=True),
        lambda: KeyCounts.of(([TEXT], TEXT)),
        lambda: KeyCounts.of(([TEXT + "\ud800"], [1])),
    ],
)
def test_no_refusal_of_data_in_memory_tells_them(use: Callable[[], object]) -> None:
    with pytest.raises(CertdpError) as caught:
        use()
    _check_nothing_leaked(caught.value)


def _check_nothing_leaked(error: CertdpError) -> None:
    """Text, representation, arguments and chain, as a log or a service that gathers errors has them."""
    assert not _leaked(str(error) + repr(error) + repr(error.args) + repr(vars(error)))
    assert not _leaked("".join(traceback.format_exception(error)))
