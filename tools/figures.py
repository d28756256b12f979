"""Measures the source tree: sizes, what each capability takes, imports between folders, and the
path of five operations.

    python -m tools.figures            # Markdown on standard output
    python -m tools.figures --json     # the same figures for a program

A trace counts Python calls inside the package while one operation runs in a warm process: how many
calls, how many files they are in, how often a call goes from one file or folder (layer) to another,
and how deep they nest.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import statistics
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

SRC = Path(__file__).resolve().parent.parent / "src" / "holdfast"


def _files() -> list[Path]:
    return sorted(SRC.rglob("*.py"))


def _functions(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def sizes() -> dict[str, Any]:
    """Files, lines, and the median and longest file and function."""
    lines = {path: len(path.read_text().splitlines()) for path in _files()}
    functions = [
        (length, f"{path.relative_to(SRC)}:{name}")
        for path in lines
        for name, length in _functions(ast.parse(path.read_text()))
    ]
    lengths = sorted(length for length, _ in functions)
    longest = max(lines, key=lambda path: lines[path])
    return {
        "files": len(lines),
        "lines": sum(lines.values()),
        "files under 50 lines": sum(count < 50 for count in lines.values()),
        "median file": statistics.median(lines.values()),
        "longest file": f"{longest.relative_to(SRC)}, {lines[longest]}",
        "functions": len(lengths),
        "median function": statistics.median(lengths),
        "95th percentile function": lengths[int(len(lengths) * 0.95)],
        "longest function": "{1}, {0}".format(*max(functions)),
    }


# The files of each capability, by the beginnings of their paths; the longest one counts.
CAPABILITIES = {
    "command line": "edges/cli",
    "its warm process": "edges/cli/warm edges/cli/fork_server edges/local_socket",
    "setting up clients": "edges/clients edges/cli/setup",
    "REST server": "edges/http edges/server edges/to_json edges/__init__",
    "MCP server": "edges/mcp",
    "tools and dialects": "agents",
    "web page": "edges/web",
    "hooks of agents": "edges/hooks api/prompt_blocks",
    "proxy": "edges/proxy",
    "imports and exports of other programs": "importers api/imports api/instructions"
    " edges/cli/imports engine/transfer/imports engine/log/import_run"
    " text/hub_labels",
    "adapters for frameworks": "adapters",
    "hubs of repositories": "api/lazy_hub api/project_hub api/project edges/project",
    "remote hub and client": "client api/wire api/codec",
    "library: operations, settings, values": "__init__ __main__ errors api domain settings wiring"
    " system engine/__init__ engine/core engine/hubs engine/quiet",
    "PostgreSQL": "store/postgres",
    "SQLite": "store/sqlite",
    "damaged SQLite files": "store/sqlite/rescue store/sqlite/salvage store/sqlite/check",
    "in-memory store": "store/inmemory",
    "contract of stores, what they share": "store",
    "MEMORY.md and its pages": "files/memory_md files/merge files/safe_read files/file_sync"
    " files/__init__ files/hub_folder",
    "journals": "files/journal",
    "files of tools, documents, archives": "files",
    "attachments, text of files and links": "extract files/attachments engine/writing/extraction",
    "writes: duplicates, replaced facts": "engine/writing engine/jobs engine/late_words"
    " engine/idempotency engine/change_feed text/slots text/facts",
    "classification, titles, passages, terms, dates": "text",
    "secrets and prompt injection": "text/secrets text/guard engine/writing/redact"
    " files/secret_scan engine/upkeep/secret_scan",
    "recall and lists": "recall engine/reading sources",
    "block for a prompt": "engine/context",
    "history and forgetting": "engine/history engine/traces",
    "conversation log": "engine/log text/private",
    "automatic memory: capture, grounding, echoes": "text/capture text/grounding engine/echo"
    " engine/writing/proposals passes engine/upkeep/capture_stats",
    "review and decisions": "engine/review",
    "people, teams and keys": "engine/people api/people api/caller edges/cli/people",
    "backup, moving, upkeep, doctor": "engine/upkeep engine/transfer wiring/copies api/checkup",
    "embedding and language models": "embed llm",
    "kit for tests": "testing",
    "evaluation of recall": "evaluation",
}


def costs() -> dict[str, tuple[int, int]]:
    """Files and lines of each capability. A file belongs to one, so what many use is the library's
    or that of the one it was made for."""
    beginnings = {one: name for name, ones in CAPABILITIES.items() for one in ones.split()}
    beginnings[""] = "others: add them to CAPABILITIES"
    found: dict[str, tuple[int, int]] = {}
    for path in _files():
        place = path.relative_to(SRC).with_suffix("").as_posix()
        name = beginnings[max((one for one in beginnings if place.startswith(one)), key=len)]
        files, lines = found.get(name, (0, 0))
        found[name] = files + 1, lines + len(path.read_text().splitlines())
    return found


def _folder(parts: tuple[str, ...]) -> str:
    """The folder directly below the package, or the module at its root."""
    return parts[0].removesuffix(".py")


def imports() -> Counter[tuple[str, str]]:
    """How many files of one folder import from another."""
    found: Counter[tuple[str, str]] = Counter()
    for path in _files():
        here = _folder(path.relative_to(SRC).parts)
        there: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names = [node.module]
                if node.module == "holdfast":
                    names = [f"holdfast.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                package, _, rest = name.partition(".")
                if package == "holdfast" and rest:
                    there.add(rest.split(".")[0])
        found.update((here, other) for other in there if other != here)
    return found


# Stands in for the standard library's named tuples, whose calls are not counted either.
_AS_STANDARD = os.path.join("system", "named_tuple.py")


class Trace:
    """Counts the calls inside the package while it is active."""

    def __init__(self) -> None:
        self.calls = self.file_changes = self.layer_changes = self.depth = 0
        self.files: set[str] = set()
        self._root = str(SRC) + os.sep

    def _own(self, frame: FrameType | None) -> str | None:
        """The nearest file of the package at or above a frame."""
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(self._root):
                return name
            frame = frame.f_back
        return None

    def _called(self, frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(self._root) or name.endswith(_AS_STANDARD):
            return
        self.calls += 1
        self.files.add(name)
        caller = self._own(frame.f_back)
        if caller is not None and caller != name:
            self.file_changes += 1
            layers = [_folder(Path(one).relative_to(SRC).parts) for one in (caller, name)]
            self.layer_changes += layers[0] != layers[1]
        depth, above = 0, frame.f_back
        while above is not None:
            depth += above.f_code.co_filename.startswith(self._root)
            above = above.f_back
        self.depth = max(self.depth, depth + 1)

    def run(self, operation: Callable[[], Any]) -> dict[str, int]:
        # REST requests are answered in other threads.
        threading.setprofile(self._called)
        sys.setprofile(self._called)
        try:
            operation()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
        return {
            "calls": self.calls,
            "files": len(self.files),
            "changes of file": self.file_changes,
            "changes of layer": self.layer_changes,
            "depth": self.depth,
        }


def traces() -> dict[str, dict[str, int]]:
    """The paths of five operations, each after one like it has warmed the process."""
    import holdfast

    found = {}
    settings = {"embed.model": "none", "shadowJournal.enabled": True}
    with tempfile.TemporaryDirectory() as home, holdfast.open(home, settings=settings) as memory:
        hub = memory.create_hub("work")
        tools = holdfast.tools("maven", hub)
        client = _client(memory)
        # Otherwise a thread of the library would do the journaler's work, unmeasured.
        memory.core.set_has_worker(True)
        journaler = _journaler(memory)

        def turn(text: str) -> None:
            hub.observe_turn(text, "Noted.")
            journaler()

        operations: dict[str, Callable[[str], Any]] = {
            "remember": lambda text: hub.remember(f"The {text} service listens on port 8443"),
            "recall": lambda text: hub.recall(f"which port has the {text} service?"),
            "REST write": lambda text: client.post(
                "/v1/memories",
                json={"content": f"Deploys of {text} run on Fridays"},
                headers={"X-Hub-ID": "work"},
            ).raise_for_status(),
            "tool call": lambda text: tools.call(
                "remember", {"content": f"The {text} queue is drained at night"}
            ),
            "observed turn": lambda text: turn(f"My sister {text} lives in Bonn and I use vim."),
        }
        for name, operation in operations.items():
            operation("billing")
            operation("search")
            found[name] = Trace().run(lambda run=operation: run("mail"))
    return found


def _client(memory: Any) -> Any:
    """A client of the REST routes in this process."""
    from starlette.testclient import TestClient

    from holdfast.edges.http.app import create_app

    app = create_app(memory, key_needed=False)
    return TestClient(app, base_url="http://localhost")


def _journaler(memory: Any) -> Callable[[], Any]:
    """Does the work that an observed turn leaves for later."""
    from holdfast.engine import jobs
    from holdfast.passes.work import JobWorker

    return JobWorker(memory.core, jobs.JOURNAL, memory.home).work_on_next


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    size, taken, matrix, paths = sizes(), costs(), imports(), traces()
    if given.json:
        rows = {f"{here} -> {there}": count for (here, there), count in sorted(matrix.items())}
        print(
            json.dumps(
                {"sizes": size, "capabilities": taken, "imports": rows, "traces": paths}, indent=2
            )
        )
        return
    print("| | |\n| --- | --- |")
    for name, value in size.items():
        print(f"| {name} | {value} |")
    print("\n| capability | files | lines |\n| --- | ---: | ---: |")
    for name, (files, lines) in sorted(taken.items(), key=lambda row: -row[1][1]):
        print(f"| {name} | {files} | {lines:,} |")
    print("\n| operation | " + " | ".join(next(iter(paths.values()))) + " |")
    print("| --- |" + " ---: |" * 5)
    for name, row in paths.items():
        print(f"| {name} | " + " | ".join(map(str, row.values())) + " |")
    folders = sorted({name for pair in matrix for name in pair})
    print("\nFiles of the row's folder that import from the column's:\n")
    print("| | " + " | ".join(folders) + " |")
    print("| --- |" + " ---: |" * len(folders))
    for here in folders:
        print(
            f"| {here} | " + " | ".join(str(matrix[here, there] or "") for there in folders) + " |"
        )


if __name__ == "__main__":
    main()
