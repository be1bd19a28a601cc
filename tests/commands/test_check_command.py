"""`certdp check`: what holds, what is refused, and when data were compared."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from certdp.verification.checker.envelope import seal

Run = Callable[..., Any]
Refusal = Callable[..., dict[str, str]]
Base = tuple[str, ...]


@pytest.fixture
def pair(certdp: Run, base: Base, table: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A public and an owner's certificate of the same run."""
    public, owner = tmp_path / "public.json", tmp_path / "owner.json"
    ran = certdp(
        *(*base, "--data", table, "--divide-by", "2", "--option", "radius=3"),
        *("--certificate", public, "--owner-certificate", owner),
    )
    assert ran.code == 0
    return public, owner


def refuses(certdp: Run, *arguments: object) -> str:
    ran = certdp("check", *arguments, "--json")
    assert (ran.code, ran.err) == (1, "")
    assert ran.json["verdict"] == "refused"
    assert ran.json["data_compared"] is False
    reason = ran.json["reason"]
    assert isinstance(reason, str)
    assert reason in certdp("check", *arguments).out
    return reason


def test_a_public_certificate_holds(certdp: Run, pair: tuple[Path, Path]) -> None:
    ran = certdp("check", pair[0], "--json")
    assert (ran.code, ran.err) == (0, "")
    body = json.loads(pair[0].read_bytes())
    assert ran.json == {
        "certificate": str(pair[0]),
        "verdict": "holds",
        "reason": ran.json["reason"],
        "data_compared": False,
        "theorem": "IS Theorem 6",
        "guarantee": "pure differential privacy per record under add-remove",
        "unit": "record",
        "relation": "add-remove",
        "audience": "public",
        "epsilon": [body["claim"]["supremum"]["lower"], body["claim"]["supremum"]["upper"]],
        "delta": 0.0,
        "notion": "pure",
        "parameters": {"epsilon": str(Fraction(body["claim"]["supremum"]["upper"])), "delta": "0"},
        "domain": "norm(1) <= 3",
        "distributions": ["certdp"],
        "assumptions": body["assumptions"],
        "not_used": [],
        "artefacts": None,
        "demands": [],
    }
    text = certdp("check", pair[0]).out
    assert text.startswith("holds: ")
    assert "data: not compared" in text
    stated = [f"  {assumed['name']} = {assumed['value']}" for assumed in body["assumptions"]]
    assert text.splitlines()[-len(stated) - 1 :] == ["assuming:", *stated]
    assert "  radius = 3" in stated


def test_demands_are_held_and_listed(certdp: Run, pair: tuple[Path, Path], table: Path) -> None:
    upper = json.loads(pair[0].read_bytes())["claim"]["supremum"]["upper"]
    words = ["--require", "proved", "--unit", "record", "--relation", "add-remove", "--distribution", "certdp"]
    met = certdp("check", pair[0], *words, "--max-epsilon", str(Fraction(upper)), "--max-delta", "0", "--json")
    assert met.code == 0
    assert [demand["met"] for demand in met.json["demands"]] == [True] * 6
    for demand, *words in (
        ("max-epsilon", "--max-epsilon", str(Fraction(math.nextafter(upper, 0)))),
        ("unit", "--unit", "user", "--min-contributions", "1"),
        ("min-contributions", "--min-contributions", "2"),
        ("relation", "--relation", "replace"),
        ("distribution", "--distribution", "acme"),
    ):
        ran = certdp("check", pair[0], *words, "--json")
        assert (ran.code, ran.json["verdict"]) == (1, "holds")
        assert [told["demand"] for told in ran.json["demands"] if not told["met"]] == [demand]
        assert f"not met: {demand}: wanted " in certdp("check", pair[0], *words).out
    assert certdp("check", pair[1], "--require", "proved").code == 1
    assert certdp("check", pair[1], "--require", "proved", "--data", table, "--divide-by", "2").code == 0


def test_what_is_taken_from_an_author_ends_with_3(certdp: Run, pair: tuple[Path, Path]) -> None:
    body = json.loads(pair[0].read_bytes())
    del body["digest"]
    (told,) = (
        item for item in body["assumptions"] if item["name"] == f"evidence of mechanism {body['mechanism']['name']}"
    )
    told["name"] = "evidence of mechanism theirs"
    body["mechanism"].update(name="theirs", distribution="acme")
    pair[0].write_bytes(seal(body))
    ran = certdp("check", pair[0], "--json")
    assert (ran.code, ran.json["verdict"]) == (3, "holds assuming the profile")
    assert ran.json["distributions"] == ["acme", "certdp"]
    assert certdp("check", pair[0]).code == 3
    ran = certdp("check", pair[0], "--require", "proved", "--json")
    assert ran.code == 1
    assert ran.json["demands"] == [
        {"demand": "require", "wanted": "proved", "found": "holds assuming the profile", "met": False}
    ]
    assert certdp("check", pair[0], "--distribution", "certdp").code == 1


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("require", "cited"),
        ("unit", "Record"),
        ("relation", "both"),
        ("max-epsilon", "-1"),
        ("max-epsilon", "nan"),
        ("max-delta", "1.5"),
        ("min-contributions", "0"),
    ],
)
def test_what_is_no_demand_is_bad_input(refusal: Refusal, pair: tuple[Path, Path], parameter: str, value: str) -> None:
    assert refusal("check", pair[0], f"--{parameter}", value)["parameter"] == parameter
    assert refusal("check", pair[0], "--unit", "user")["parameter"] == "min-contributions"
    assert refusal("check", "--schema", "--unit", "record")["parameter"] == "schema"


def test_what_nobody_asked_to_assume_is_told(certdp: Run, pair: tuple[Path, Path]) -> None:
    body = json.loads(pair[0].read_bytes())
    del body["digest"]
    used = list(body["assumptions"])
    advertised = [
        {"name": "no record is in the data", "value": "\x1b[2J\nholds"},
        {"name": "proven safe by everybody", "value": ""},
    ]
    body["assumptions"] = [advertised[0], *used, advertised[1]]
    pair[0].write_bytes(seal(body))
    assert certdp("check", pair[0]).out.endswith(
        "\nstated beside that, unchecked and not used by the proof:\n"
        "  no record is in the data = \\x1b[2J\\nholds\n  proven safe by everybody\n"
    )
    told = certdp("check", pair[0], "--json").json
    assert (told["assumptions"], told["not_used"]) == (used, advertised)
    pair[0].write_bytes(b"{}")
    told = certdp("check", pair[0], "--json").json
    assert (told["assumptions"], told["not_used"]) == (None, None)


def test_an_owners_certificate_is_compared_with_its_data(certdp: Run, pair: tuple[Path, Path], table: Path) -> None:
    ran = certdp("check", pair[1], "--data", table, "--divide-by", "2", "--json")
    assert (ran.code, ran.json["verdict"], ran.json["data_compared"]) == (0, "holds", True)
    assert ran.json["audience"] == "owner"
    assert "data: compared" in certdp("check", pair[1], "--data", table, "--divide-by", "2").out
    without = certdp("check", pair[1], "--json")
    assert (without.code, without.json["data_compared"]) == (0, False)


def test_a_public_certificate_has_no_data_to_compare(certdp: Run, pair: tuple[Path, Path], table: Path) -> None:
    ran = certdp("check", pair[0], "--data", table, "--json")
    assert (ran.code, ran.json["data_compared"]) == (0, False)
    assert "not bound to data" in ran.json["reason"]


@pytest.mark.parametrize("where", [(0, 0), (59, 3), (30, 2)])
def test_one_changed_entry_is_refused(
    certdp: Run, pair: tuple[Path, Path], table: Path, where: tuple[int, int]
) -> None:
    records = np.load(table)
    records[where] = np.nextafter(records[where], np.inf)
    np.save(table, records)
    assert "not those of the commitment" in refuses(certdp, pair[1], "--data", table, "--divide-by", "2")


@pytest.mark.slow
def test_other_data_are_refused(certdp: Run, pair: tuple[Path, Path], table: Path) -> None:
    records = np.load(table)
    assert refuses(certdp, pair[1], "--data", table)
    assert refuses(certdp, pair[1], "--data", table, "--divide-by", "2.0000001")
    assert "columns" in refuses(certdp, pair[1], "--data", table, "--divide-by", "2", "--transpose")
    for changed in (records[:-1], np.vstack([records, records[:1]]), records[::-1], records[:, :3]):
        np.save(table, changed)
        assert refuses(certdp, pair[1], "--data", table, "--divide-by", "2")


def test_the_same_data_in_another_form_are_the_same(certdp: Run, pair: tuple[Path, Path], table: Path) -> None:
    path = table.with_suffix(".npz")
    np.savez(path, wide=np.asfortranarray(np.load(table)).T, X=np.zeros((2, 2)))
    ran = certdp("check", pair[1], "--data", path, "--array", "wide", "--transpose", "--divide-by", "2", "--json")
    assert (ran.code, ran.json["data_compared"]) == (0, True)


@pytest.mark.parametrize("index", [0, 1])
def test_a_changed_byte_is_refused(certdp: Run, pair: tuple[Path, Path], index: int, tmp_path: Path) -> None:
    whole = pair[index].read_bytes()
    digest = whole.index(b'"sha256:')
    draw = random.Random(index)
    for position in [*draw.sample(range(digest), 30), *draw.sample(range(digest, len(whole)), 15)]:
        changed = bytearray(whole)
        changed[position] = draw.choice([byte for byte in range(256) if byte != changed[position]])
        path = tmp_path / "changed.json"
        path.write_bytes(changed)
        ran = certdp("check", path, "--json")
        assert (ran.code, ran.json["verdict"]) == (1, "refused"), position


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[:-1],
        lambda whole: whole + b"\n",
        lambda whole: whole[: len(whole) // 2],
        lambda whole: b"\xef\xbb\xbf" + whole,
        lambda whole: whole.replace(b"\n", b"\r\n"),
        lambda whole: json.dumps(json.loads(whole)).encode(),
        lambda whole: b"[]",
        lambda whole: b"\x00\xff" * 100,
    ],
)
def test_a_damaged_certificate_is_refused(
    certdp: Run, pair: tuple[Path, Path], damage: Callable[[bytes], bytes]
) -> None:
    pair[0].write_bytes(damage(pair[0].read_bytes()))
    assert refuses(certdp, pair[0])


def test_an_unreadable_certificate_is_bad_input(refusal: Refusal, tmp_path: Path) -> None:
    error = refusal("check", tmp_path / "none.json")
    assert (error["parameter"], error["value"]) == ("certificate", str(tmp_path / "none.json"))
    assert error["admissible"] == "a readable file"
    assert "No such file" in error["remedy"]
    assert "directory" in refusal("check", tmp_path)["remedy"]
    assert refusal("check")["value"] == "nothing"


PROCESSES = (["-m", "certdp", "check"], ["-m", "certdp.verification.checker"])


@pytest.mark.slow
@pytest.mark.parametrize("process", PROCESSES)
def test_a_pipe_or_a_device_is_not_waited_for(process: list[str], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        command = [sys.executable, *process, str(path)]
        ran = subprocess.run(command, capture_output=True, check=False)
        assert (ran.returncode, ran.stdout) == (2, b"")
        assert b"no regular file" in ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize("process", PROCESSES)
def test_what_a_process_is_given_open_is_read(process: list[str], pair: tuple[Path, Path]) -> None:
    command = [sys.executable, *process, "/dev/stdin"]
    ran = subprocess.run(command, input=pair[0].read_bytes(), capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.startswith(b"holds: ")


def test_bad_data_are_bad_input(refusal: Refusal, pair: tuple[Path, Path], tmp_path: Path) -> None:
    np.save(tmp_path / "nan.npy", [[1.0, np.nan]])
    error = refusal("check", pair[1], "--data", tmp_path / "nan.npy")
    assert error["parameter"] == "data"
    assert "NaN or inf in row 0, column 1" in error["value"]
    assert refusal("check", pair[1], "--data", tmp_path / "none.npy")["parameter"] == "data"


@pytest.mark.parametrize("option", [["--divide-by", "3"], ["--transpose"], ["--array", "X"]])
def test_how_to_read_no_file_is_bad_input(refusal: Refusal, pair: tuple[Path, Path], option: list[str]) -> None:
    assert f"--{refusal('check', pair[1], *option)['parameter']}" == option[0]


@pytest.mark.slow
def test_a_process_elsewhere(pair: tuple[Path, Path], tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = [sys.executable, "-m", "certdp", "check"]
    ran = subprocess.run([*command, str(pair[0])], cwd=elsewhere, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.startswith(b"holds: ")
    pair[0].write_bytes(pair[0].read_bytes()[:-2] + b" \n")
    ran = subprocess.run([*command, str(pair[0])], cwd=elsewhere, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (1, b"")
    assert ran.stdout.startswith(b"refused: ")
    ran = subprocess.run([*command, "none.json"], cwd=elsewhere, capture_output=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(b"error: certificate: got none.json")


def test_the_schema_of_certificates_is_printed_alone(certdp: Run, pair: tuple[Path, Path]) -> None:
    ran = certdp("check", "--schema")
    assert (ran.code, ran.err) == (0, "")
    schema = Draft202012Validator(json.loads(ran.out))
    body = json.loads(pair[0].read_bytes())
    assert schema.is_valid(body)
    assert not schema.is_valid({**body, "further": 0})


def test_the_schema_checks_no_file(refusal: Refusal, pair: tuple[Path, Path], table: Path) -> None:
    assert refusal("check", "--schema", pair[0])["parameter"] == "certificate"
    assert refusal("check", pair[0], "--schema")["admissible"] == "no file beside --schema"
    assert refusal("check", "--schema", "--data", table)["parameter"] == "data"
    assert refusal("check", "--schema", "--transpose")["parameter"] == "transpose"
