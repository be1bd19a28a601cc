"""The kinds of plugin: how each is recognised, and the laws about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, final

from attrs import frozen

from ...accounting.errors import InvalidType
from ..registry import Role
from . import mechanism_losses, mechanism_releases, plugin_laws, record_samplers
from .constants import Options, Setup
from .law import Law
from .subjects import Rows, mechanism_subject, sampler_subject


@final
@frozen(kw_only=True)
class Terms:
    """With what a plugin is checked.

    Attributes:
        options: public constants by its author; none lets the kit choose.
        rows: records that a mechanism takes; none lets the kit choose.
        audit_trials: releases on either side of an audit, and draws in which frequencies are counted.
    """

    options: tuple[Options, ...]
    rows: Rows
    audit_trials: int


Subject: TypeAlias = Callable[[tuple[Setup, ...], Terms], Any]


@final
@frozen(kw_only=True)
class Kind:
    """A kind of plugin.

    Attributes:
        word: what it is called.
        role: under which role it is registered.
        recognised: whether a class, or a tuple, is one.
        subject: what its laws are about, from public constants and terms.
        laws: the laws.
    """

    word: str
    role: Role
    recognised: Callable[[Any], bool]
    subject: Subject
    laws: tuple[Law[Any], ...]


def _with(*names: str) -> Callable[[Any], bool]:
    return lambda plugin: any(hasattr(plugin, name) for name in names)


KINDS: tuple[Kind, ...] = (
    Kind(
        word="mechanism",
        role=Role.MECHANISM,
        recognised=_with("loss", "release"),
        subject=lambda setups, terms: mechanism_subject(setups, terms.rows, terms.audit_trials),
        laws=(*plugin_laws.LAWS, *mechanism_losses.LAWS, *mechanism_releases.LAWS),
    ),
    Kind(
        word="sampler",
        role=Role.SAMPLER,
        recognised=_with("rate", "rate_for"),
        subject=lambda setups, terms: sampler_subject(setups, terms.audit_trials),
        laws=(*plugin_laws.LAWS, *record_samplers.LAWS),
    ),
)
"""In the order in which a plugin is recognised."""


def kind_of(plugin: object) -> Kind:
    """The kind of a plugin class, or of a tuple of claims.

    Raises:
        InvalidType: for anything else.
    """
    for kind in KINDS:
        if kind.recognised(plugin):
            return kind
    raise InvalidType(
        "plugin",
        plugin,
        "a class or an instance with `loss` and `release`, `rate`, `rate_for`, `inclusion` or `reporting`, or a tuple "
        "of claims",
    )
