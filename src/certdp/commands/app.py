"""The application: its commands by name, each in a module of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from .groups import Listed, group


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("certdp"))
        raise typer.Exit


def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Keep the options of the application itself."""


app = group(
    {
        "psi": Listed("psi.dispatch", "What one release loses about each record, with a certificate."),
        "epsilon": Listed("epsilon", "The smallest proven ε at a δ, of one or many releases."),
        "delta": Listed("delta", "The smallest proven δ at an ε, of one or many releases."),
        "risk": Listed("risk", "What an attacker learns about a record: rates of the best test."),
        "calibrate": Listed("calibrate", "Noise, a number of releases or a rate within a budget."),
        "weights": Listed("weights", "Weight and probability of every record of a file."),
        "cluster": Listed("cluster", "Private k-means: centres at a certified ε."),
        "pws": Listed("pws.group", "Private weighted samples of keys and counts."),
        "dpis": Listed("dpis.group", "Importance-sampled DP-SGD (DPIS) within a budget."),
        "ledger": Listed("ledger.group", "A budget in a database, which many processes pay from."),
        "audit": Listed("audit", "Whether runs on neighbouring inputs refute a claimed (ε, δ)."),
        "check": Listed("check", "Verify a certificate, without the code that made it."),
        "verify-peer": Listed("verify_peer", "Whether another tool's run keeps the (ε, δ) claimed of it."),
        "statement": Listed("statement", "What a certificate promises, in words or for the registry."),
        "sign": Listed("sign", "Sign a certificate, for those who must know whose it is."),
        "verify": Listed("verify", "Run the claims: closed forms against independent solves."),
        "mutants": Listed("mutants", "Score the verification suite by planted faults."),
        "reproduce": Listed("reproduce", "A figure or table of a paper."),
        "experiments": Listed("experiments", "Every figure and table of the papers, going on where it stopped."),
        "plugins": Listed("plugins.group", "What is installed, from which distribution, valid or not."),
    },
    help="Certified accounting for differential privacy: proven bounds per record, certificates that anyone can check.",
    callback=_main,
    name="certdp",
)
