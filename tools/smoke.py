"""Tries an installed Holdfast: the command, recall by meaning, MCP over stdio, the server.

It is run by the Python of the environment that is tried and imports nothing of this repository.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

SCRIPTS = Path(sys.executable).parent


def main() -> int:
    began = time.perf_counter()
    print(" ", ", ".join(command("--version").split("\n")[:2]))
    command("remember", "The cat sleeps on the blue sofa")
    command("remember", "Production runs Postgres 15")
    found = json.loads(command("recall", "where does my pet nap?", "--json", "--limit", "1"))
    said = json.dumps(found)
    assert "blue sofa" in said, f"recall by meaning found something else: {said}"
    assert '"degraded": true' not in said, f"recall ran without its model: {said}"
    print(f"  first recalled memory after {time.perf_counter() - began:.1f} s")
    speak_mcp()
    ask_server()
    assert shutil.which("holdfast-memory", path=str(SCRIPTS)), "uvx needs this name"
    return 0


def command(*words: str) -> str:
    ran = subprocess.run(
        [str(SCRIPTS / "holdfast"), *words], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, f"holdfast {' '.join(words)}: {ran.stdout}{ran.stderr}"
    return ran.stdout


def speak_mcp() -> None:
    """The first messages of a client, over stdio."""
    messages = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "smoke", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    server = subprocess.Popen(
        [str(SCRIPTS / "holdfast"), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stdin and server.stdout
    for message in messages:
        server.stdin.write(json.dumps(message) + "\n")
    server.stdin.flush()
    answers = [json.loads(server.stdout.readline()) for _ in range(2)]
    server.stdin.close()
    server.wait(timeout=30)
    tools = answers[1]["result"]["tools"]
    assert tools, "the MCP server offers no tools"
    print(f"  MCP over stdio: {len(tools)} tools")


def ask_server() -> None:
    """The server answers on loopback."""
    server = subprocess.Popen(
        [str(SCRIPTS / "holdfast"), "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert server.stdout
    try:
        address = ""
        for line in server.stdout:
            if "http://" in line:
                address = "http://" + line.partition("http://")[2].split()[0].rstrip("/.,`")
                break
        assert address, "the server printed no address"
        with urllib.request.urlopen(f"{address}/healthz", timeout=20) as answer:
            assert answer.status == 200
        print(f"  server: {address}/healthz answers 200")
    finally:
        server.terminate()
        server.wait(timeout=30)


if __name__ == "__main__":
    sys.exit(main())
