"""Files come, change, move, are copied and go, in any order: after each indexing the documents say
what the files say, once each, and nothing that was ever taken in is lost."""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from holdfast.testing import FixedClock, open_for_tests

NAMES = st.sampled_from(["a.md", "b.md", "c.txt", "sub/a.md", "sub/deep/d.py", "é.md"])
TEXTS = st.sampled_from(["one", "two", "three words here", "ünï", "print(1)"])


class Files(RuleBasedStateMachine):
    """One hub, one folder, a handful of names and texts, so that they meet often."""

    @initialize()
    def begin(self) -> None:
        self.scratch = tempfile.mkdtemp(prefix="holdfast-files-")
        # Long after the files were written, so that their stamps are trusted.
        clock = FixedClock(datetime(2100, 1, 1, tzinfo=UTC))
        self.memory = open_for_tests(Path(self.scratch) / "home", clock=clock)
        self.hub = self.memory.create_hub("work")
        self.files = Path(self.hub.folder) / "files"
        self.files.mkdir(parents=True)
        self.taken_in: set[str] = set()
        self.indexed = True

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            self.memory.close()
            shutil.rmtree(self.scratch)

    def present(self) -> dict[str, str]:
        found = [path for path in self.files.rglob("*") if path.is_file()]
        return {
            path.relative_to(self.files).as_posix(): path.read_text(encoding="utf-8")
            for path in found
        }

    @rule(name=NAMES, text=TEXTS)
    def write(self, name: str, text: str) -> None:
        path = self.files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.indexed = False

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        (self.files / name).unlink(missing_ok=True)
        self.indexed = False

    @rule(old=NAMES, new=NAMES)
    def move(self, old: str, new: str) -> None:
        if (self.files / old).exists():
            (self.files / new).parent.mkdir(parents=True, exist_ok=True)
            (self.files / old).rename(self.files / new)
            self.indexed = False

    @rule()
    def index(self) -> None:
        report = self.hub.index_files()
        self.indexed = True
        assert not report.refused
        assert not report.withheld
        self.taken_in |= set(self.present().values())
        again = self.hub.index_files()
        assert not (again.added or again.updated or again.removed), "a second run has nothing to do"

    @invariant()
    def documents_say_what_the_files_say(self) -> None:
        if not hasattr(self, "memory") or not self.indexed:
            return
        present = self.present()
        shown = {memory.source_path: memory.content for memory in self.hub.list()}
        assert set(shown.values()) == set(present.values())
        for path, text in shown.items():
            assert path is not None
            assert present[path] == text, "a document stands for the file it names"

    @invariant()
    def nothing_taken_in_is_lost(self) -> None:
        if not hasattr(self, "memory"):
            return
        kept = set()
        for memory in self.hub.list(state="all"):
            kept |= {entry.after.content for entry in self.hub.history(memory.id)}
        assert self.taken_in <= kept


TestFiles = Files.TestCase
TestFiles.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
