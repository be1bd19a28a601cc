"""`certdp plugins show`: what every plugin is, and takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from certdp.plugins.contract import options
from certdp.plugins.registry import Registry, Role

BUILT_IN = Registry(third_party=False)
PLUGINS = [(listing.role, listing.name) for listing in BUILT_IN.listings(Role.MECHANISM, Role.SAMPLER)]


@pytest.mark.parametrize(("role", "name"), PLUGINS)
def test_every_option_is_shown_with_its_meaning(certdp: Callable[..., Any], role: Role, name: str) -> None:
    shown, page = certdp("plugins", "show", name, "--json").json, certdp("plugins", "show", name).out
    assert (shown["role"], shown["name"]) == (role.word, name)
    assert shown["summary"]
    assert [one["name"] for one in shown["options"]] == [option.name for option in options(BUILT_IN.get(role, name))]
    for option in shown["options"]:
        assert option["help"], option
        assert option["name"] in page


def test_names_are_known(refusal: Callable[..., dict[str, str]]) -> None:
    error = refusal("plugins", "show", "laplace")
    assert (error["parameter"], error["value"]) == ("name", "laplace")
    assert "laplace-sum" in error["admissible"]
