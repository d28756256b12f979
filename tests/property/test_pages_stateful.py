"""The same random edits and crashes as for MEMORY.md alone, with a file for each category, and with
that turned on and off in between."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from holdfast.files.memory_md import Document, PageBreak
from holdfast.files.memory_md.disk import agreed_texts
from holdfast.files.memory_md.pages import joined, split
from holdfast.files.memory_md.parse import parse
from tests.property.test_mirror_stateful import WHICH, BothSides


class ManyFiles(BothSides):
    """A person with several files, an agent with tools, and a machine that loses power."""

    @property
    def document(self) -> Document:
        return joined(self.texts()) if self.path.exists() else Document(())

    def texts(self) -> dict[str, str]:
        found = self.path.parent.glob("*.md")
        return {path.name: path.read_bytes().decode() for path in found}

    def save(self, blocks: list[object]) -> None:
        for name, text in split(Document(tuple(blocks))).items():  # type: ignore[arg-type]
            (self.path.parent / name).write_bytes(text.encode())

    @rule()
    def turn_on_or_off(self) -> None:
        # A page made by hand that nobody has looked at yet is just a file, once it is off.
        with self.core.store.read() as reader:
            if self.mirror.files.pages and set(self.texts()) - set(
                agreed_texts(reader, self.hub_id) or ()
            ):
                return
        self.mirror.files.pages = not self.mirror.files.pages

    @rule()
    def lose_all_comments(self) -> None:
        for name, text in self.texts().items():
            bare = re.sub(r"[ \t]*<!-- mem_\w+ -->", "", text)
            (self.path.parent / name).write_bytes(bare.encode())

    @rule(which=WHICH)
    def delete_a_page(self, which: int) -> None:
        pages = sorted(set(self.texts()) - {"MEMORY.md"})
        if pages:
            (self.path.parent / pages[which % len(pages)]).unlink()

    @rule(
        name=st.sampled_from(["people.md", "facts.md", "preferences.md"]), number=st.integers(0, 9)
    )
    def make_a_page(self, name: str, number: int) -> None:
        path = self.path.parent / name
        if self.mirror.files.pages and not path.exists():
            path.write_text(f"- By hand, {number}.\n")

    def reachable(self) -> set[str]:
        kept = [p.read_bytes().decode() for p in self.path.parent.glob("*.kept-*")]
        return super().reachable() | {item.content for text in kept for item in parse(text).items}

    def all_is_well(self) -> None:
        super().all_is_well()
        with self.core.store.read() as reader:
            assert agreed_texts(reader, self.hub_id) == self.texts()
        assert self.mirror.files.pages or set(self.texts()) == {"MEMORY.md"}
        places = [block for block in self.document.blocks if isinstance(block, PageBreak)]
        assert len(places) == len(self.texts()) - 1
        assert Path(self.path).exists()


TestManyFiles = ManyFiles.TestCase
TestManyFiles.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
