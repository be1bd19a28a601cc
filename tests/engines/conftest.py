# pyright: reportMissingImports=false
"""PostgreSQL in a scratch folder, and engines of few workers, where these are to be tried: `make test-engines`."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.engines import Dask, Engine, Spark

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
    pytest.importorskip("psycopg", reason="no psycopg is installed")
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


@contextmanager
def _dask() -> Iterator[Engine]:
    distributed = pytest.importorskip("distributed", reason="no Dask is installed")
    from certdp.engines import dask

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
    ):
        yield Dask(dask)


@contextmanager
def _spark() -> Iterator[Engine]:
    sql = pytest.importorskip("pyspark.sql", reason="no Spark is installed")
    if shutil.which("java") is None:
        pytest.skip("no Java is installed")
    from certdp.engines import spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    builder = sql.SparkSession.builder.master("local[2,4]")  # a task may fail three times
    for name, value in {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "4"}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield Spark(spark, session)
    finally:
        session.stop()


@pytest.fixture(scope="session", params=[_dask, _spark], ids=["dask", "spark"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if not os.environ.get("CERTDP_ENGINES"):
        pytest.skip("engines are tried by make test-engines")
    with request.param() as started:
        yield started
