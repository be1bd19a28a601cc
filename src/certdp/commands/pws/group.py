"""The group `certdp pws`: private weighted samples of keyed data."""

from __future__ import annotations

from ..groups import Listed, group

command = group(
    {
        "release": Listed("pws.release", "Sample and sanitise keys in one pass over a file."),
        "table": Listed("pws.table", "How often a key of each frequency is reported, exactly."),
        "sample": Listed("pws.sample", "Sample keys with true frequencies: not private."),
        "merge": Listed("pws.merge", "Merge samples without a common key: not private."),
        "sanitise": Listed("pws.sanitise", "Make a sample private, without its data."),
        "estimate": Listed("pws.estimate", "Sums, keys, ranks and quantiles from a sample alone."),
    },
    help="Private weighted samples of keys and counts: what is reported satisfies (ε, δ)-DP for one element, that is "
    "one occurrence of a key, or for one user.",
)
