# pyright: reportMissingImports=false
"""The Python of docs/training.md runs and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

PAGE = Path(__file__).parents[3] / "docs/training.md"


def test_python_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    torch.set_default_dtype(torch.float32)
    names: dict[str, Any] = {"__name__": "document"}
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
        assert capsys.readouterr().out.splitlines() == re.findall(r"# → (.+)$", block, re.MULTILINE)
