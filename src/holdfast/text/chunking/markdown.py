"""Cut prose and Markdown: at headings first, then at blocks, and inside a block only if it must.

Blocks are headings, fences, tables, front matter and prose: the part of Markdown that decides where
a text may be cut. Emphasis, links and lists are prose, and so is a fence that is never closed. A
fence or a table stays whole unless it alone is larger than the hard maximum. A section of a few
words joins the one that follows it under the same parent.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Literal, NamedTuple

from holdfast.text.chunking import (
    INTACT_TIMES_MAX,
    LINE,
    TOKENS_MIN,
    Chunk,
    Span,
    count_quarters,
    count_tokens,
    split_lines,
    split_prose,
    trimmed,
)

# Blocks


BlockKind = Literal["heading", "fence", "table", "matter", "prose"]

# A title is repeated with every passage under it, so it is bounded.
TITLE_CHARS_MAX = 200

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+([^\r\n]*))?[\r\n]*$")
_ATX_TAIL = re.compile(r"(?:^|[ \t])#+$")
_SETEXT = re.compile(r" {0,3}(={2,}|-{2,})[ \t]*[\r\n]*$")
# What cannot be the text of an underlined heading: a list, a quote, a table, a rule, code.
_NO_TITLE = re.compile(r"[ \t]*(?:[-*+>|]|\d+[.)][ \t]|[-=_*]{3,}|```|~~~)|[ ]{4}|\t")
# A fence may be in a quote or a list, at any depth.
_FENCE = re.compile(r"[ \t]*(?:>[ \t]?)*(?:(?:[-*+]|\d+[.)])[ \t]+)?(`{3,}(?=[^`]*$)|~{3,})")
_FENCE_END = re.compile(r"[ \t]*(?:>[ \t]?)*(`{3,}|~{3,})[ \t]*[\r\n]*$")
# What was read is never given back (`*+`): a cell that could be read in two ways would double the
# time of a line that is no rule, with each cell that it has.
_TABLE_RULE = re.compile(r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?+-*+:?+[ \t]*+)*[\r\n]*$")


class MarkdownBlock(NamedTuple):
    """A span of whole lines that is cut as one; a heading also has its level and title."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    title: str = ""


class MarkdownLine(NamedTuple):
    start: int
    end: int
    text: str


def read_blocks(text: str, start: int = 0, end: int | None = None) -> list[MarkdownBlock]:
    """The blocks of a Markdown text in order; together they are all of it."""
    stop = len(text) if end is None else end
    lines = [MarkdownLine(*m.span(), m.group()) for m in LINE.finditer(text, start, stop)]
    blocks: list[MarkdownBlock] = []
    closers = _Closers(lines)
    at = _front_matter(lines, blocks) if start == 0 else 0
    while at < len(lines):
        at = _read_one(lines, at, closers, blocks)
    return blocks


def _read_one(
    lines: list[MarkdownLine], at: int, closers: _Closers, blocks: list[MarkdownBlock]
) -> int:
    """Add the block that begins at line `at`, or its line to the prose; return the next line."""
    line = lines[at]
    lead = line.text.lstrip(" \t")[:1]
    if lead == "#" and (atx := _ATX.match(line.text)):
        title = _ATX_TAIL.sub("", (atx.group(2) or "").strip()).strip()
        level = len(atx.group(1))
        blocks.append(
            MarkdownBlock("heading", line.start, line.end, level, title[:TITLE_CHARS_MAX])
        )
        return at + 1
    if ("```" in line.text or "~~~" in line.text) and (fence := _FENCE.match(line.text)):
        last = closers.after(at, fence.group(1))
        if last is not None:
            blocks.append(MarkdownBlock("fence", line.start, lines[last].end))
            return last + 1
    if at + 1 < len(lines):
        below = lines[at + 1].text
        if (mark := below.lstrip(" ")[:1]) and mark in "=-" and _is_title(lines, at):
            setext = _SETEXT.match(below)
            if setext:
                level = 1 if setext.group(1)[0] == "=" else 2
                title = line.text.strip()[:TITLE_CHARS_MAX]
                blocks.append(MarkdownBlock("heading", line.start, lines[at + 1].end, level, title))
                return at + 2
        if "|" in line.text and "-" in below and "|" in below and _TABLE_RULE.match(below):
            last = at + 1
            while last + 1 < len(lines) and "|" in lines[last + 1].text:
                last += 1
            blocks.append(MarkdownBlock("table", line.start, lines[last].end))
            return last + 1
    if blocks and blocks[-1].kind == "prose":
        blocks[-1] = MarkdownBlock("prose", blocks[-1].start, line.end)
    else:
        blocks.append(MarkdownBlock("prose", line.start, line.end))
    return at + 1


def _is_title(lines: list[MarkdownLine], at: int) -> bool:
    """Whether the line can be the text of an underlined heading: a single line.

    Markdown also underlines whole paragraphs; in notes a row of dashes below a paragraph is
    nearly always a rule.
    """
    text = lines[at].text
    if not text.strip() or _NO_TITLE.match(text):
        return False
    return at == 0 or not lines[at - 1].text.strip() or bool(_ATX.match(lines[at - 1].text))


def _front_matter(lines: list[MarkdownLine], blocks: list[MarkdownBlock]) -> int:
    """Settings between two lines of dashes at the very top; return the line after them."""
    # Bounded: front matter of more than 200 lines is a document that begins with a rule.
    if not lines or lines[0].text.strip() != "---":
        return 0
    for at in range(1, min(len(lines), 200)):
        if lines[at].text.strip() in ("---", "..."):
            blocks.append(MarkdownBlock("matter", lines[0].start, lines[at].end))
            return at + 1
        if not lines[at].text.strip() and at == 1:
            return 0
    return 0


class _Closers:
    """The lines that can close a fence, so that each fence finds its own in linear time."""

    def __init__(self, lines: list[MarkdownLine]) -> None:
        self._at: dict[str, list[int]] = {"`": [], "~": []}
        self._length: dict[str, list[int]] = {"`": [], "~": []}
        # No closer of this length or more is left: found out once, true of every later fence.
        self._none_from: dict[str, int] = {}
        for number, line in enumerate(lines):
            if "```" not in line.text and "~~~" not in line.text:
                continue
            found = _FENCE_END.match(line.text)
            if found:
                self._at[found.group(1)[0]].append(number)
                self._length[found.group(1)[0]].append(len(found.group(1)))

    def after(self, number: int, opener: str) -> int | None:
        """The line that closes a fence opened at line `number`, or None."""
        mark, length = opener[0], len(opener)
        if length >= self._none_from.get(mark, length + 1):
            return None
        at, lengths = self._at[mark], self._length[mark]
        for index in range(bisect_right(at, number), len(at)):
            if lengths[index] >= length:
                return at[index]
        self._none_from[mark] = length
        return None


# Sections


class Section(NamedTuple):
    """The blocks from one heading to the next, and the titles above them.

    `siblings` says that it was joined of several, and the chain is that of their parent.
    """

    chain: tuple[str, ...]
    blocks: list[MarkdownBlock]
    siblings: bool = False

    @property
    def start(self) -> int:
        return self.blocks[0].start

    @property
    def end(self) -> int:
        return self.blocks[-1].end


def chunk_markdown(text: str, *, tokens_max: int) -> list[Chunk]:
    """The passages of a Markdown text with its heading chains."""
    chunks: list[Chunk] = []
    for section in _merge_small(text, read_sections(text), tokens_max):
        for start, end in split_blocks(text, section.blocks, tokens_max=tokens_max):
            span = trimmed(text, start, end)
            if span:
                chunks.append(Chunk(*span, section.chain))
    return chunks


def read_sections(text: str) -> list[Section]:
    """One section per heading of a Markdown text, plus the text before the first one."""
    sections: list[Section] = []
    open_headings: list[tuple[int, str]] = []
    for block in read_blocks(text):
        if block.kind == "heading":
            while open_headings and open_headings[-1][0] >= block.level:
                open_headings.pop()
            open_headings.append((block.level, block.title))
        if block.kind == "heading" or not sections:
            chain = tuple(title for _, title in open_headings if title)
            sections.append(Section(chain, []))
        sections[-1].blocks.append(block)
    return sections


def _merge_small(text: str, sections: list[Section], tokens_max: int) -> list[Section]:
    """Join a section of fewer than TOKENS_MIN tokens with the next, if they share a parent."""
    merged: list[Section] = []
    small_tokens = 0
    for section in sections:
        tokens = count_tokens(text[section.start : section.end])
        if merged and 0 < small_tokens < TOKENS_MIN:
            joint = _joint(merged[-1], section, fits=small_tokens + tokens <= tokens_max)
            if joint:
                merged[-1] = joint
                small_tokens += tokens
                continue
        merged.append(section)
        small_tokens = tokens
    return merged


def _joint(first: Section, second: Section, *, fits: bool) -> Section | None:
    """Both as one; None when the second is neither a child nor a sibling of the first.

    A child keeps its own chain, and may be of any length: its parent brought little more than the
    title. Siblings keep the chain of their parent, since neither title is true of both; so they
    must fit into one passage, which shows both titles in its text.
    """
    blocks = first.blocks + second.blocks
    under = first.chain == second.chain[: len(first.chain)]
    if under and not first.siblings:
        return Section(second.chain, blocks)
    parent = first.chain if first.siblings else first.chain[:-1]
    if fits and (under or parent == second.chain[:-1]):
        return Section(parent, blocks, siblings=True)
    return None


def split_blocks(text: str, blocks: list[MarkdownBlock], *, tokens_max: int) -> list[Span]:
    """Spans that cover the blocks: of at most `tokens_max` tokens, or a whole fence or table."""
    start, end = blocks[0].start, blocks[-1].end
    if count_tokens(text[start:end]) <= tokens_max:
        return [(start, end)]
    hard_max = tokens_max * INTACT_TIMES_MAX
    packed: list[Span] = []
    quarters = 0
    for piece, whole in _pieces(text, blocks, tokens_max, hard_max):
        more = count_quarters(text[piece[0] : piece[1]])
        # A few words that introduce a long table are worth more with it than alone.
        limit = hard_max if whole and quarters < TOKENS_MIN * 4 else tokens_max
        if packed and quarters + more <= limit * 4:
            packed[-1] = (packed[-1][0], piece[1])
            quarters += more
        else:
            packed.append(piece)
            quarters = more
    return packed


def _pieces(
    text: str, blocks: list[MarkdownBlock], tokens_max: int, hard_max: int
) -> list[tuple[Span, bool]]:
    """The parts to pack, each with whether it is a fence or table that stays whole."""
    pieces: list[tuple[Span, bool]] = []
    prose: Span | None = None
    for block in [*blocks, None]:
        if block is not None and block.kind in ("heading", "prose"):
            prose = (prose[0] if prose else block.start, block.end)
            continue
        if prose:
            # A heading and what follows it go in together: the splitter keeps them so.
            spans = split_prose(text, *prose, tokens_max=tokens_max, markdown=True)
            pieces.extend((span, False) for span in spans)
            prose = None
        if block is None:
            break
        if count_tokens(text[block.start : block.end]) <= hard_max:
            pieces.append(((block.start, block.end), True))
        else:
            lines = split_lines(text, block.start, block.end, tokens_max=tokens_max)
            pieces.extend((span, False) for span in lines)
    return pieces
