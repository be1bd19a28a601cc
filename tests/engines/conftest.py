"""A server of PostgreSQL in a scratch folder, where the engines are to be tried: `make test-engines`."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

UNPRIVILEGED = "nobody"  # whom the server runs as where the tests run as root, which it refuses


class Server:
    """A server, started and killed at will."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs = programs
        self.folder = folder
        self.as_user: dict[str, Any] = {"user": UNPRIVILEGED} if os.getuid() == 0 else {}
        if self.as_user:
            shutil.chown(folder, UNPRIVILEGED)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.run("initdb", "-D", str(folder / "data"), "-U", "certdp", "-A", "trust", "-E", "UTF8", "--locale", "C")

    def run(self, program: str, *words: str) -> None:
        subprocess.run(
            [str(self.programs / program), *words],
            cwd=self.folder,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **self.as_user,
        )

    def start(self) -> None:
        settings = f"-c listen_addresses=127.0.0.1 -p {self.port} -k {self.folder}"
        log = str(self.folder / "log")
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-l", log, "-o", settings, "start")

    def stop(self) -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", "fast", "stop")

    def kill(self) -> None:
        """End the server as a power cut would, and wait until it has ended."""
        pid = int((self.folder / "data/postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, signal.SIGQUIT)
        while Path(f"/proc/{pid}").exists():
            pass

    def database(self, name: str) -> str:
        """The address of a new database."""
        self.run("createdb", "-h", str(self.folder), "-p", str(self.port), "-U", "certdp", name)
        return f"postgresql://certdp@127.0.0.1:{self.port}/{name}"


def _programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [
        Path(one) for one in [shutil.which("initdb")] if one
    ]
    return found[-1].parent if found else None


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    if not os.environ.get("CERTDP_ENGINES"):
        pytest.skip("engines are tried by make test-engines")
    programs = _programs()
    if programs is None:
        pytest.skip("no PostgreSQL is installed")
    folder = Path(tempfile.mkdtemp(prefix="certdp-postgres-"))
    made = Server(programs, folder)
    made.start()
    try:
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def address(server: Server, request: pytest.FixtureRequest) -> str:
    return server.database(f"test_{abs(hash(request.node.nodeid)):x}")
