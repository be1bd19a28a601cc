"""The kinds of plugin: how each is recognised, and the laws about it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, final

from attrs import frozen

from ...accounting.errors import InvalidType
from ..registry import Role
from . import (
    batches,
    claims,
    key_samplers,
    mechanism_losses,
    mechanism_releases,
    plugin_laws,
    record_samplers,
    sanitisers,
    strata,
)
from .claims import ClaimsSubject
from .constants import Options, Setup, of_instance, setups
from .key_samplers import KeySamplerSubject
from .law import Law
from .sanitisers import sanitiser_subject
from .subjects import Rows, mechanism_subject, sampler_subject


@final
@frozen(kw_only=True)
class Terms:
    """The terms of an examination: what a plugin is checked with.

    Attributes:
        options: public constants by its author; none lets the kit choose.
        rows: records that a mechanism takes; none lets the kit choose.
        examples: most cases per law.
        audit_trials: releases on either side of an audit, and draws in which frequencies are counted.
    """

    options: tuple[Options, ...]
    rows: Rows
    examples: int
    audit_trials: int


@final
@frozen(kw_only=True)
class Kind:
    """A kind of plugin.

    Attributes:
        word: what it is called.
        role: under which role it is registered.
        recognised: whether a class, or a tuple, is one.
        subject: what its laws are about, from the plugin and the terms.
        laws: the laws.
    """

    word: str
    role: Role
    recognised: Callable[[Any], bool]
    subject: Callable[[Any, Terms], Any]
    laws: tuple[Law[Any], ...]


def _with(*names: str) -> Callable[[Any], bool]:
    return lambda plugin: any(hasattr(plugin, name) for name in names)


def _constants(plugin: Any, terms: Terms) -> tuple[Setup, ...]:
    return setups(plugin, terms.options) if inspect.isclass(plugin) else of_instance(plugin)


KINDS: tuple[Kind, ...] = (
    Kind(
        word="claims",
        role=Role.CLAIMS,
        recognised=lambda plugin: isinstance(plugin, tuple),
        subject=lambda plugin, terms: ClaimsSubject(plugin, terms.examples),
        laws=claims.LAWS,
    ),
    Kind(
        word="sanitiser",
        role=Role.MECHANISM,
        recognised=_with("reporting"),
        subject=lambda plugin, terms: sanitiser_subject(_constants(plugin, terms)),
        laws=(*plugin_laws.LAWS, *sanitisers.LAWS),
    ),
    Kind(
        word="sampler of keys",
        role=Role.SAMPLER,
        recognised=_with("inclusion"),
        subject=lambda plugin, terms: KeySamplerSubject(_constants(plugin, terms)),
        laws=(*plugin_laws.LAWS, *key_samplers.LAWS),
    ),
    Kind(
        word="mechanism",
        role=Role.MECHANISM,
        recognised=_with("loss", "release"),
        subject=lambda plugin, terms: mechanism_subject(_constants(plugin, terms), terms.rows, terms.audit_trials),
        laws=(*plugin_laws.LAWS, *mechanism_losses.LAWS, *mechanism_releases.LAWS),
    ),
    Kind(
        word="sampler of batches",
        role=Role.SAMPLER,
        recognised=_with("epoch"),
        subject=lambda plugin, terms: batches.BatchesSubject(_constants(plugin, terms)),
        laws=(*plugin_laws.LAWS, *batches.LAWS),
    ),
    Kind(
        word="sampler by strata",
        role=Role.SAMPLER,
        recognised=_with("strata"),
        subject=lambda plugin, terms: strata.StrataSubject(_constants(plugin, terms)),
        laws=(*plugin_laws.LAWS, *strata.LAWS),
    ),
    Kind(
        word="sampler",
        role=Role.SAMPLER,
        recognised=_with("rate", "rate_for"),
        subject=lambda plugin, terms: sampler_subject(_constants(plugin, terms), terms.audit_trials),
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
        "a class or an instance with `loss` and `release`, `rate`, `rate_for`, `epoch`, `strata`, `inclusion` "
        "or `reporting`, or a tuple of claims",
    )
