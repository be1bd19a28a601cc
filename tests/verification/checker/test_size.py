"""How large the checker is, and how much work a proof of each kind takes: as its page says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from certdp.verification import checker
from certdp.verification.checker import Budget, check
from certdp.verification.checker.budget import MOST_WORK
from tests.verification.checker.test_forgeries import CORPUS, written

FOLDER = Path(checker.__file__).parent
PAGE = (Path(__file__).parents[3] / "docs/certificate.md").read_text("utf-8")
KINDS = {"a pure profile": "profile", "keyed releases": "keyed.release", "composed runs": "approximate.run"}
EMPTY = 5


def code_of(path: Path) -> int:
    """Lines that are neither blank nor a comment nor of a docstring."""
    text = path.read_text("utf-8")
    said = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            said |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(1 for number, line in lines if line.strip() and not line.strip().startswith("#") and number not in said)


def place_of(name: str) -> Path:
    return FOLDER / (name.replace(".", "/") + ".py")


def imported(name: str) -> Iterator[str]:
    """Modules of the checker that a module of it imports, by name."""
    inside = name.split(".")[:-1]
    for node in ast.walk(ast.parse(place_of(name).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = [*inside[: len(inside) + 1 - node.level], *(node.module or "").split(".")]
            base = ".".join(part for part in folder if part)
            for one in (base, *(f"{base}.{alias.name}" if base else alias.name for alias in node.names)):
                if one and place_of(one).exists():
                    yield one


def reached(name: str) -> set[str]:
    found, left = {name}, [name]
    while left:
        further = set(imported(left.pop())) - found
        found |= further
        left += further
    return found


def stated(pattern: str) -> int:
    found = re.search(pattern, re.sub(r"\s+", " ", PAGE))
    assert found is not None, pattern
    return int(found[1].replace(",", ""))


def test_the_page_says_how_large_the_checker_is() -> None:
    every = [path for path in FOLDER.rglob("*.py") if code_of(path) > EMPTY]
    lines = sum(len(path.read_text("utf-8").splitlines()) for path in every)
    assert len(every) == stated(r"lines in (\d+) modules")
    assert abs(lines - stated(r"it has some ([\d,]+) lines")) <= 100
    assert abs(sum(map(code_of, every)) - stated(r"modules, ([\d,]+) of them code")) <= 100


def test_the_page_says_what_a_proof_of_each_kind_takes_to_read() -> None:
    kinds = {kind: reached(name) for kind, name in KINDS.items()}
    common = set.intersection(*kinds.values())
    assert len(common) == stated(r"the rest says why\. (\d+) modules")
    assert abs(sum(code_of(place_of(name)) for name in common) - stated(r"modules \(([\d,]+) lines of code\)")) <= 50
    for kind, names in kinds.items():
        pattern = r"takes ([\d,]+)" if kind == "a pure profile" else rf"{kind} ([\d,]+)"
        assert abs(sum(code_of(place_of(name)) for name in names) - stated(pattern)) <= 50, kind


@pytest.mark.slow
@pytest.mark.xdist_group("corpus")  # which has written all certificates
def test_the_page_says_how_much_work_proofs_are() -> None:
    """Counted, and so the same on every machine."""
    kinds: dict[str, list[int]] = {}
    for name in CORPUS:
        budget = Budget()
        content = written(name)
        assert check(content, None, budget).accepted
        kind = re.search(rb'"kind": "([a-z-]+)"', content)
        assert kind is not None
        kinds.setdefault(kind[1].decode(), []).append(MOST_WORK - budget.left)
    least, most = (choose(choose(each) for each in kinds.values()) for choose in (min, max))
    digits = re.search(r"take from (\d)·10⁵ to ([\d.]+)·10⁸ units", PAGE)
    assert digits is not None
    assert abs(least / 1e5 - float(digits[1])) <= 0.5
    assert abs(most / 1e8 - float(digits[2])) <= 0.1
    assert kinds.keys() == checker.KINDS.keys()
    for of_kind, work in kinds.items():
        row = f"| `{of_kind}` | {max(work) / 1e6:.1f} |"
        assert row in PAGE, row
