"""Markdown of a hub's files to HTML. The text is data that agents wrote: raw HTML is switched off
in the parser, and what it makes goes through a sanitiser all the same."""

from __future__ import annotations

from functools import cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

_TAGS = {
    *("p", "br", "hr", "blockquote", "pre", "code", "em", "strong", "s", "a"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_SCHEMES = {"http", "https", "mailto"}
# A longer text is shown as it is: nobody reads it as a page.
CHARS_MAX = 400_000


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def to_html(text: str) -> Markup:
    """Markdown as safe HTML. Pictures are left out: they would be fetched from elsewhere."""
    if len(text) > CHARS_MAX:
        return Markup("<pre>{}</pre>").format(text)
    made = _parser().render(text)
    clean = nh3.clean(
        made,
        tags=_TAGS,
        attributes={"a": {"href"}},
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(clean)
