"""A page of the web as text: what a reader would see, with headings and list items marked as in
markdown. On the standard library's parser, which takes any input and follows nothing."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from holdfast.extract.found import Found

_SKIPPED = frozenset("script style noscript template svg math iframe object select button".split())  # noqa: SIM905
# Around the text of a page: where to go next, and who made it.
_FURNITURE = frozenset(("nav", "footer", "aside"))
_BLOCKS = frozenset(
    """
    p div section article main header ul ol table tr pre blockquote dl dt dd figure figcaption form
    fieldset address hr br h1 h2 h3 h4 h5 h6 li body
    """.split()  # noqa: SIM905
)
# Void elements have no end, so nothing inside them could be skipped.
_VOID = frozenset("br hr img input link meta area base col embed source track wbr".split())  # noqa: SIM905


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.title: list[str] = []
        self._skipping: list[str] = []
        self._in_title = False
        self._pre = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        hidden = tag in _SKIPPED or tag in _FURNITURE or dict(attrs).get("hidden", "no") != "no"
        if (hidden or tag in self._skipping) and tag not in _VOID:
            self._skipping.append(tag)
        if self._skipping:
            return
        self._in_title = tag == "title"
        self._pre += tag == "pre"
        if tag in _BLOCKS:
            self.pieces.append("\n" if tag in ("br", "tr", "li") else "\n\n")
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.pieces.append("#" * int(tag[1]) + " ")
        elif tag == "li":
            self.pieces.append("- ")
        elif tag in ("td", "th"):
            self.pieces.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._skipping:
            # What was left open inside ends with it.
            while self._skipping and self._skipping.pop() != tag:
                pass
            return
        self._in_title = False
        if tag == "pre":
            self._pre = max(0, self._pre - 1)
        if tag in _BLOCKS and not self._skipping:
            self.pieces.append("\n\n" if tag not in ("li", "tr") else "\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._skipping and self._pre:
            self.pieces.append(data)
        elif not self._skipping:
            words = re.sub(r"\s+", " ", data)
            begins = not self.pieces or self.pieces[-1].endswith("\n")
            if words := words.lstrip() if begins else words:
                self.pieces.append(words)


def page_text(html: str) -> Found:
    """The text of a page and its title."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    text = "".join(reader.pieces)
    text = re.sub(r"(?<![ \t])[ \t]+\n|\n[ \t]+(?=\n)", "\n", text)
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    # A heading or an item without words is no line.
    text = re.sub(r"(?m)^(?:#{1,6}|-) *$\n?", "", text).strip()
    title = " ".join("".join(reader.title).split())[:200]
    return Found(text, "" if text else "there are no words on the page", title)
