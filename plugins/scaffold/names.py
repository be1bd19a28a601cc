"""The names of a new plugin: one word for people, installers, Python and certdp."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from keyword import iskeyword
from typing import Any, final

from attrs import field, frozen

from ...accounting.errors import InvalidValue
from .. import contract

_WORDS = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_OF_TEST_SUITES = {"conftest", "test", "tests"}


def _free(name: PluginName, _: Any, value: Any) -> None:
    if not isinstance(value, str) or not _WORDS.fullmatch(value):
        raise InvalidValue("name", value, "lower-case words joined by hyphens, such as my-sum")
    package = name.package
    if iskeyword(package) or iskeyword(name.class_name) or hasattr(contract, name.class_name):
        raise InvalidValue(
            "name", value, "a name that Python and the contract have no other use for", "Add a word to it"
        )
    if package in _OF_TEST_SUITES:
        raise InvalidValue(
            "name",
            value,
            f"a name other than that of a module: test suites are imported as {package}",
            "Add a word to it",
        )
    if package in sys.stdlib_module_names or _installed(package):
        raise InvalidValue(
            "name", value, f"a name other than that of a module: {package} can be imported already", "Add a word to it"
        )


def _installed(package: str) -> bool:
    found = find_spec(package)
    return found is not None and found.has_location  # a folder that merely lies on the path has none


@final
@frozen
class PluginName:
    """The name of a plugin, and what follows from it.

    Attributes:
        name: of the plugin and of its distribution: lower-case words joined by hyphens, which is PEP 503's normal form.

    Raises:
        InvalidValue: for another form, and for names that Python, the contract, test suites or an installed module
            have taken.
    """

    name: str = field(validator=_free)

    @property
    def package(self) -> str:
        """The name of the import package, such as my_sum."""
        return self.name.replace("-", "_")

    @property
    def class_name(self) -> str:
        """The name of the plugin's class, such as MySum."""
        return "".join(word.capitalize() for word in self.name.split("-"))

    def __str__(self) -> str:
        return self.name
