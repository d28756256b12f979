"""Cut prose and Markdown: at headings first, then at blocks, and inside a block only if it must.

A fence or a table stays whole unless it alone is larger than the hard maximum. A section of a
few words joins the one that follows it under the same parent. It knows no turns and no code.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.text.chunk import INTACT_TIMES_MAX, TOKENS_MIN, Chunk, trimmed
from holdfast.text.chunk_blocks import Block, read_blocks
from holdfast.text.chunk_prose import Span, split_lines, split_prose
from holdfast.text.chunk_tokens import count_quarters, count_tokens


class Section(NamedTuple):
    """The blocks from one heading to the next, and the titles they stand under.

    `siblings` says that it was joined of several, and the chain is that of their parent.
    """

    chain: tuple[str, ...]
    blocks: list[Block]
    siblings: bool = False

    @property
    def start(self) -> int:
        return self.blocks[0].start

    @property
    def end(self) -> int:
        return self.blocks[-1].end


def chunk_markdown(text: str, *, tokens_max: int) -> list[Chunk]:
    """The passages of a text with its heading chains."""
    chunks: list[Chunk] = []
    for section in _merge_small(text, read_sections(text), tokens_max):
        for start, end in split_blocks(text, section.blocks, tokens_max=tokens_max):
            span = trimmed(text, start, end)
            if span:
                chunks.append(Chunk(*span, section.chain))
    return chunks


def read_sections(text: str) -> list[Section]:
    """One section per heading, plus what stands before the first one."""
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


def split_blocks(text: str, blocks: list[Block], *, tokens_max: int) -> list[Span]:
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
    text: str, blocks: list[Block], tokens_max: int, hard_max: int
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
