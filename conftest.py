"""Collects `pytest accounting` as certdp.accounting: a library folder is always reached through its link.

Of the modules that are no tests, those alone are imported and searched that have an example in a docstring.
"""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
collect_ignore = ["tests/typing_cases"]  # misuse for the type checkers to find, not for Python to run
if find_spec("torch") is None:
    collect_ignore += ["src/certdp/dpis/torch", "tests/dpis/torch_models"]


def through_the_link(argument: str, invoked_in: Path) -> str:
    """The pytest argument with a library folder replaced by its link under src/certdp."""
    path, separator, name = argument.partition("::")
    absolute = Path(os.path.abspath(invoked_in / path))
    if absolute.is_relative_to(ROOT):
        inside = absolute.relative_to(ROOT)
        linked = ROOT / "src/certdp" / inside.parts[0] if inside.parts else ROOT
        if linked.is_symlink():
            return f"{linked.joinpath(*inside.parts[1:])}{separator}{name}"
    return argument


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leaves out a module without tests and examples; None leaves it to others."""
    if collection_path.suffix != ".py" or collection_path.name.startswith("test_"):
        return None
    return True if b">>> " not in collection_path.read_bytes() else None


def pytest_configure(config: pytest.Config) -> None:
    """Redirects the paths that pytest was called with."""
    invoked_in = config.invocation_params.dir
    config.args = [through_the_link(argument, invoked_in) for argument in config.args]
