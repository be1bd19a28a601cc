"""`certdp plugins`: what is installed, from where, and whether it can be used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, version
from typing import Any

import pytest

from certdp.plugins.registry import Listing, Registry, Role

Run = Callable[..., Any]
BUILT_IN = {
    ("mechanism", "laplace-sum"),
    ("mechanism", "count"),
    ("sampler", "full"),
    ("sampler", "poisson"),
    ("sampler", "importance"),
}


def test_built_ins_are_listed_and_valid(certdp: Run) -> None:
    ran = certdp("plugins", "--json")
    assert (ran.code, ran.err) == (0, "")
    rows = [row for row in ran.json["plugins"] if row["distribution"] == "certdp"]
    assert {(row["role"], row["name"]) for row in rows} >= BUILT_IN
    for row in rows:
        assert set(row) == {"role", "name", "distribution", "version", "valid", "problem", "remark"}
        assert (row["version"], row["valid"], row["problem"]) == (version("certdp"), True, None)


def test_the_text_says_the_same(certdp: Run) -> None:
    lines = [line.split() for line in certdp("plugins").out.splitlines()]
    assert lines[0] == ["role", "name", "distribution", "version", "status"]
    for role, name in BUILT_IN:
        assert [role, name, "certdp", version("certdp"), "valid"] in lines


def test_list_only_validates_nothing(certdp: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def loaded(_: EntryPoint) -> None:
        raise AssertionError("imported")

    monkeypatch.setattr(EntryPoint, "load", loaded)
    ran = certdp("plugins", "--list-only", "--json")
    assert ran.code == 0
    assert {row["valid"] for row in ran.json["plugins"]} == {None}
    assert {(row["role"], row["name"]) for row in ran.json["plugins"]} >= BUILT_IN
    assert "not imported" in certdp("plugins", "--list-only").out
    assert "AssertionError: imported" in certdp("plugins", "--json").out  # the probe sees an import


def test_a_plugin_that_cannot_be_used_is_shown_with_the_reason(certdp: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = Listing(Role.MECHANISM, "odd", "odd-party", "0.9", "no_such_module:Odd [Errno 2]")
    listings = Registry.listings

    def with_odd(registry: Registry, *roles: Role) -> Iterable[Listing]:
        return [*listings(registry, *roles), odd]

    monkeypatch.setattr(Registry, "listings", with_odd)
    ran = certdp("plugins", "--json")
    assert ran.code == 0
    row = ran.json["plugins"][-1]
    assert (row["name"], row["distribution"], row["version"], row["valid"]) == ("odd", "odd-party", "0.9", False)
    assert row["problem"].startswith("its import fails with ")
    text = certdp("plugins").out
    assert "odd-party" in text
    assert "its import fails with" in text
    blocked = certdp("plugins", "--no-third-party", "--json").json["plugins"][-1]
    assert blocked["problem"] == "blocked: third-party plugins are switched off"
    unlisted = certdp("plugins", "--allow", "another", "--json").json["plugins"][-1]
    assert unlisted["problem"] == "blocked: its distribution is not on the allow-list"
