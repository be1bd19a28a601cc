"""No test reads a clock: a busy machine must fail none. Work is counted instead (the fixture `counted`)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime", "getrusage", "timeit"}
CLOCKS |= {f"{name}_ns" for name in CLOCKS} | {"utcnow"}


def readings(source: str) -> Iterator[str]:
    """The lines of a test module that read a clock, or that give a process only so long; with the word for it."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(ast.Name("time"), "time" | "time_ns" as name):
                yield f"line {node.lineno}: time.{name}"
            case ast.Attribute(_, name) | ast.Name(name) if name in CLOCKS:
                yield f"line {node.lineno}: {name}"
            case ast.Call(
                ast.Attribute(ast.Name("subprocess"), "run" | "check_output" | "call" | "check_call"), _, named
            ):
                yield from (f"line {node.lineno}: timeout" for keyword in named if keyword.arg == "timeout")
            case ast.Call(ast.Attribute(_, "communicate"), _, named):
                yield from (f"line {node.lineno}: timeout" for keyword in named if keyword.arg == "timeout")
            case ast.Call(ast.Name("settings") | ast.Attribute(_, "settings"), _, named):
                yield from (f"line {node.lineno}: deadline" for keyword in named if keyword.arg == "deadline")


def modules() -> list[Path]:
    found = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "examples").rglob("test_*.py")]
    return [path for path in found if path != Path(__file__)]


@pytest.mark.slow
def test_no_test_reads_a_clock() -> None:
    told = [(str(path.relative_to(ROOT)), what) for path in modules() for what in readings(path.read_text("utf-8"))]
    found = [f"{module}, {what}" for module, what in told]
    assert len(modules()) > 200
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("assert time.monotonic() - start < 7", "monotonic"),
        ("from time import perf_counter\nassert perf_counter() < 1", "perf_counter"),
        ("started = time.time()", "time.time"),
        ("datetime.utcnow()", "utcnow"),
        ("subprocess.run(command, timeout=60)", "timeout"),
        ("running.communicate(timeout=60)", "timeout"),
        ("@settings(deadline=200)\ndef test() -> None: ...", "deadline"),
    ],
)
def test_a_clock_is_told(source: str, expected: str) -> None:
    (found,) = readings(source)
    assert found.endswith(f": {expected}")


def test_sleeping_and_limits_of_the_library_are_no_clocks() -> None:
    assert not list(readings("time.sleep(1)\nrun(claims, timeout=5)\ncalled(now=3)"))
