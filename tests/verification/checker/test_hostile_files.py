"""Files made to hang, exhaust or mislead the checker: each gets its verdict in bounded time and memory."""

from __future__ import annotations

import hashlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from certdp.verification.checker import LARGEST_FILE, check

Body = dict[str, Any]
SECONDS = 30.0  # of the processor
MEMORY = 2 * 2**30
W, NORM = ["weight"], ["norm", "2"]
ONE, HALF = ["constant", "1"], ["constant", "1/2"]


def seal(body: Any) -> bytes:
    text = json.dumps(body, sort_keys=True, indent=1, ensure_ascii=True, separators=(",", ": "))
    return f'{text[:-2]},\n "digest": "sha256:{hashlib.sha256(text.encode()).hexdigest()}"\n}}\n'.encode()


def plugin(name: str) -> Body:
    own = {"name": name, "version": "1", "distribution": "elsewhere", "evidence": "proved", "citation": "none"}
    return own | {"options": {}}


def assumed(**values: str) -> list[Body]:
    return [{"name": name.replace("_", " "), "value": value} for name, value in values.items()]


def sampled(loss: Any, rate: Any, precision: int = 64) -> Body:
    """A profile of draws that binary64 holds, on the ball of radius 1."""
    spent: Any = loss
    profile = {
        "remove": ["log1p", ["multiply", rate, ["expm1", spent]]],
        "add": [
            "subtract",
            ["constant", "0"],
            ["log1p", ["multiply", rate, ["expm1", ["subtract", ["constant", "0"], spent]]]],
        ],
    }
    domain = {"norm": "2", "radius": "1", "dimension": None}
    return {
        "format": "certdp-certificate/1",
        "kind": "sampled-pure-profile",
        "audience": "public",
        "theorem": "IS Theorem 6",
        "claim": {
            "unit": "record",
            "relation": "add-remove",
            "notion": "pure",
            "profile": profile,
            "supremum": {"domain": domain, "lower": None, "upper": 1.5, "maximiser": None},
        },
        "inputs": {"loss": loss, "rate": rate, "weighted": False, "rounding": "0", "released_cost": "0"},
        "mechanism": plugin("m"),
        "sampler": plugin("s"),
        "assumptions": assumed(evidence_of_mechanism_m="proved", evidence_of_sampler_s="proved", norm="2", radius="1"),
        "precision": precision,
        "versions": {},
        "data": None,
    }


def composed(
    part: Body, count: int = 1, method: str = "pure", theorem: str = "IS Theorem 6 and basic composition"
) -> Body:
    names = [f"part {number}: " for number in range(1, count + 1)]
    told = [
        {"name": f"{place}{name}", "value": value}
        for place in names
        for name, value in (
            ("evidence of mechanism m", "proved"),
            ("evidence of sampler s", "proved"),
            ("releases", f"{part['steps']}, each on a fresh sample"),
        )
    ]
    domain = {"norm": "2", "radius": "1", "dimension": None}
    return {
        "format": "certdp-certificate/1",
        "kind": "composed-approximate",
        "audience": "public",
        "theorem": theorem,
        "claim": {
            "unit": "record",
            "relation": "add-remove",
            "notion": "approximate",
            "epsilon": "1",
            "delta": "0",
            "domain": domain,
        },
        "parts": [part] * count,
        "released_cost": "0",
        "method": {"name": method},
        "assumptions": told + assumed(norm="2", radius="1"),
        "versions": {},
    }


def part(parameter: Any, cover: Any, steps: int = 1, rate: Any = HALF) -> Body:
    return {
        "mechanism": plugin("m"),
        "sampler": plugin("s"),
        "loss": {"family": "pure", "parameter": parameter, "relation": "add-remove"},
        "rate": rate,
        "weighted": False,
        "rounding": "0",
        "resample": "each",
        "steps": steps,
        "cover": cover,
    }


def balanced(operation: str, leaves: list[Any]) -> Any:
    while len(leaves) > 1:
        pairs = [[operation, *leaves[place : place + 2]] for place in range(0, len(leaves) - 1, 2)]
        leaves = pairs + leaves[len(leaves) - len(leaves) % 2 :]
    return leaves[0]


def many_series(count: int) -> Any:
    return balanced(
        "add", [["log1p", ["multiply", ["constant", f"1/{10**5 + place}"], NORM]] for place in range(count)]
    )


def hard_to_bound(exponent: int) -> Any:
    """1 less a sum of squares that only a fine subdivision tells from 0."""
    wave = ["subtract", NORM, ["power", NORM, "2"]]
    bump = ["multiply", ["subtract", wave, ["constant", "1/4"]], ["subtract", wave, ["constant", "1/4"]]]
    return ["add", ["constant", "1"], ["minimum", ["power", bump, str(exponent)], ["multiply", bump, ["exp", NORM]]]]


EXPENSIVE: dict[str, Callable[[], Body]] = {
    "thousands of series at the highest precision": lambda: sampled(many_series(1400), HALF, 4096),
    "a supremum that needs a fine subdivision": lambda: sampled(hard_to_bound(2), HALF),
    "many parts, each with a cover that takes long": lambda: composed(
        part(many_series(600), {"parameter": "1", "rate": "1/2"}), 24
    ),
    "more responses than may be summed": lambda: composed(
        part(HALF, {"parameter": "1/2", "rate": "1/2"}, 2**53),
        1,
        "hockey-stick",
        "hockey-stick divergence of the dominating pair after sampling",
    ),
    "a tower of powers": lambda: sampled(
        ["power", ["power", ["power", ["add", ONE, NORM], "4096"], "4096"], "-4096"], HALF
    ),
    "a tower of exponentials": lambda: sampled(["exp", ["exp", ["exp", ["exp", ["exp", NORM]]]]], HALF),
    "a product of thousands": lambda: sampled(
        balanced("multiply", [["add", NORM, ["constant", f"1/{place}"]] for place in range(1, 1200)]), HALF
    ),
}


@pytest.mark.parametrize("name", EXPENSIVE)
def test_expensive_content_gets_its_verdict(name: str) -> None:
    content = seal(EXPENSIVE[name]())
    assert len(content) < LARGEST_FILE
    started = time.process_time()
    verdict = check(content)
    assert time.process_time() - started < SECONDS
    assert not verdict.reason.startswith("the check failed"), verdict.reason


TRUE = seal(sampled(["divide", NORM, ["constant", "3"]], HALF))


def test_what_is_forged_below_is_true() -> None:
    assert check(TRUE).accepted


def with_digest(text: bytes) -> bytes:
    """Other content under a digest of its own, as a forger writes it."""
    head = text.partition(b',\n "digest"')[0] + b"\n}"
    return head[:-2] + b',\n "digest": "sha256:' + hashlib.sha256(head).hexdigest().encode() + b'"\n}\n'


def replaced(old: bytes, new: bytes) -> bytes:
    assert old in TRUE
    return with_digest(TRUE.replace(old, new, 1))


SPELLED: dict[str, Callable[[], bytes]] = {
    "NaN": lambda: replaced(b'"upper": 1.5', b'"upper": NaN'),
    "Infinity": lambda: replaced(b'"upper": 1.5', b'"upper": Infinity'),
    "-Infinity": lambda: replaced(b'"lower": null', b'"lower": -Infinity'),
    "an infinite exponent": lambda: replaced(b'"upper": 1.5', b'"upper": 1e999999999'),
    "an exponent": lambda: replaced(b'"upper": 1.5', b'"upper": 15e-1'),
    "more digits": lambda: replaced(b'"upper": 1.5', b'"upper": 1.50'),
    "millions of digits": lambda: replaced(b'"upper": 1.5', b'"upper": ' + b"7" * (7 * 2**20)),
    "millions of digits behind the point": lambda: replaced(b'"upper": 1.5', b'"upper": 1.' + b"7" * (7 * 2**20)),
    "an integer of 18 digits": lambda: replaced(b'"precision": 64', b'"precision": 100000000000000064'),
    "the same key twice": lambda: replaced(b'"precision": 64', b'"precision": 64,\n "precision": 64'),
    "a second claim": lambda: replaced(b' "data": null', b' "claim": {},\n "data": null'),
    "keys in another order": lambda: replaced(
        b' "data": null,\n "format": "certdp-certificate/1"', b' "format": "certdp-certificate/1",\n "data": null'
    ),
    "a comment": lambda: replaced(b' "data": null', b' // none\n "data": null'),
    "a comma too many": lambda: replaced(b' "versions": {}', b' "versions": {},'),
    "a byte order mark": lambda: b"\xef\xbb\xbf" + TRUE,
    "UTF-16": lambda: TRUE.decode().encode("utf-16"),
    "two bytes for one": lambda: TRUE.replace(b"IS Theorem", b"\xc9\xd3 Theorem"),
    "an overlong null": lambda: replaced(b'"none"', b'"\xc0\x80"'),
    "a null byte": lambda: replaced(b'"none"', b'"no\x00ne"'),
    "half a surrogate pair": lambda: replaced(b'"citation": "none"', b'"citation": "\\ud800"'),
    "half a surrogate pair as a key": lambda: replaced(b'"versions": {}', b'"versions": {\n  "\\udc00": ""\n }'),
    "a letter that needs no escape": lambda: replaced(b'"none"', b'"\\u006eone"'),
    "digits of another script": lambda: replaced(b'"constant",\n    "3"', b'"constant",\n    "\\u0663"'),
    "an object that is deep": lambda: replaced(
        b'"versions": {}', b'"versions": ' + b'{"a": ' * 10**5 + b"{}" + b"}" * 10**5
    ),
    "an array that is deep": lambda: replaced(b'"versions": {}', b'"versions": ' + b"[" * 10**5 + b"]" * 10**5),
    "deep and wide": lambda: replaced(
        b'"versions": {}', b'"versions": ' + b"[" * 250 + b"0," * 3 * 10**6 + b"0" + b"]" * 250
    ),
    "brackets in strings that close what is open": lambda: replaced(
        b'"versions": {}', b'"versions": ' + b'["]]]]",' * 10**4 + b"0" + b"]" * 10**4
    ),
    "only brackets": lambda: b"[" * LARGEST_FILE,
    "only quotes": lambda: b'"' * LARGEST_FILE,
    "only backslashes in a string": lambda: b'"' + b"\\" * (LARGEST_FILE - 1),
    "wide": lambda: b'{"a": [' + b"0," * (LARGEST_FILE // 2 - 100) + b"0]}",
}


@pytest.mark.parametrize("name", SPELLED)
def test_other_spellings_are_refused(name: str) -> None:
    content = SPELLED[name]()
    started = time.process_time()
    verdict = check(content)
    assert time.process_time() - started < SECONDS
    assert not verdict.accepted
    assert not verdict.reason.startswith("the check failed"), verdict.reason


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (int(SECONDS), int(SECONDS)))


@pytest.mark.parametrize(
    "name", ["deep and wide", "wide", "an array that is deep", "millions of digits", "huge", "endless"]
)
def test_files_are_refused_within_limits_of_time_and_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    if name == "endless":
        path = Path("/dev/stdin")
    elif name == "huge":
        with path.open("wb") as file:
            file.write(TRUE)
            file.truncate(100 * 10**6)
    else:
        path.write_bytes(SPELLED[name]())
    with Path("/dev/zero").open("rb") as zeros:
        run = subprocess.run(
            [sys.executable, "-m", "certdp.verification.checker", str(path)],
            stdin=zeros,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=limited,
        )
    assert run.returncode == 1, run.stderr
    assert run.stdout.startswith("refused: ")
