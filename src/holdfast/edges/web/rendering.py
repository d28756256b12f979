"""Templates and their filters (times, texts, differences, Markdown as safe HTML), the sentences in
them (`strings.txt`), and the styles and scripts of the page. A static file is read once, compressed
once, and named by its hash, so that a browser keeps it until it changes; only the names listed here
are served."""

from __future__ import annotations

import difflib
import gzip
import hashlib
import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

import nh3
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from starlette.responses import Response
from starlette.routing import Route

from holdfast.text.analysis.terms import STOP_WORDS

if TYPE_CHECKING:
    from starlette.requests import Request

    from holdfast.domain.memory import Memory


# The pages of a hub: the name of each, where it is, and the key that goes there after `g`.
PAGES = (
    ("find", "", "f"),
    ("today", "/today", "t"),
    ("agent", "/agent", "a"),
    ("pictures", "/pictures", "p"),
    ("files", "/files", "i"),
    ("team", "/team", "m"),
)
SHORTCUTS = (
    ("/", "keys.search"),
    ("j  k", "keys.move"),
    ("Enter", "keys.open"),
    ("e", "keys.edit"),
    ("p", "keys.pin"),
    ("s", "keys.supersede"),
    ("a", "keys.archive"),
    ("f", "keys.forget"),
    ("r", "keys.restore"),
    ("m", "keys.hub"),
    ("u", "keys.undo"),
    ("Ctrl Enter", "keys.save"),
    ("Esc", "keys.back"),
    ("g f t a p i m", "keys.go"),
    ("?", "keys.help"),
)
# Longer texts are compared line by line: by words it would take seconds.
_WORD_DIFF_CHARS_MAX = 20_000
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_JOINERS = "\u200c\u200d\u00ad"
# Words of a question that are too common to be marked.
_MARKED_CHARS_MIN = 3
_MARKED_MAX = 24


def _strings() -> dict[str, str]:
    text = files("holdfast.edges.web").joinpath("strings.txt").read_text(encoding="utf-8")
    rows = [line.partition(": ") for line in text.splitlines() if line and line[0] != "#"]
    return {name: said for name, _, said in rows}


# Every sentence of the page, by its name. A test compares them with what is asked for.
STRINGS = _strings()


def t(name: str, /, **values: object) -> str:
    """A sentence by its name, with its values. They are escaped when the page is rendered."""
    text = STRINGS[name]
    return text.format(**values) if values else text


@cache
def environment() -> Environment:
    """The templates of the web page and their filters."""
    made = Environment(
        loader=PackageLoader("holdfast.edges.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals.update(
        t=t,
        static=url_of,
        query_string=query_string,
        hidden_characters=hidden_characters,
        pages=PAGES,
        shortcuts=[(shown, t(name)) for shown, name in SHORTCUTS],
    )
    made.filters.update(
        when=when,
        day=day,
        ago=ago,
        iso=iso,
        diff=diff,
        mark=mark,
        label=label,
        short_name=short_name,
        has_own_title=has_own_title,
        number=number,
        bytes=size,
    )
    return made


def render(template: str, values: Mapping[str, Any]) -> str:
    return environment().get_template(template).render(**values)


def query_string(values: Mapping[str, Any]) -> str:
    """Values as the query of a URL, without empty ones."""
    given = {name: value for name, value in values.items() if value not in ("", None, [], ())}
    return f"?{urlencode(given, doseq=True)}" if given else ""


# Times


def iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def when(at: datetime | None) -> Markup:
    """A time as a `time` element of the web page, which shows it in the browser's time zone."""
    if at is None:
        return Markup("–")
    shown = at.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "minutes")
    return Markup('<time datetime="{}">{}</time>').format(iso(at), f"{shown} UTC")


def day(at: datetime | None) -> Markup:
    """The day of a time, as the web page shows it."""
    if at is None:
        return Markup("–")
    shown = f"{at.day} {at:%b} {at.year}"
    return Markup('<time datetime="{}" data-as="day">{}</time>').format(iso(at), shown)


def ago(at: datetime | None) -> Markup:
    """A time relative to now, which the web page updates."""
    if at is None:
        return Markup("–")
    shown = f"{at.day} {at:%b} {at.year}"
    return Markup('<time datetime="{}" data-as="ago">{}</time>').format(iso(at), shown)


# Texts


def short_name(session: str | None) -> str:
    """The name of a session on the web page; of the long ids that agents use, only the beginning,
    which `holdfast session` accepts."""
    return session[:_ID_CHARS] if session and _UUID.fullmatch(session) else session or ""


_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID_CHARS = 8


def label(value: object) -> str:
    """A code such as `long_term` in the words of the web page."""
    return str(value).replace("_", " ")


def number(value: float | int) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def size(count: int) -> str:
    """A number of bytes in the words of the web page."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError


def hidden_characters(text: str) -> bool:
    """Whether a text on the web page contains format characters, such as those that change its
    direction. A joiner is part of many emoji and scripts."""
    if text.isascii():
        return False
    return any(unicodedata.category(one) == "Cf" and one not in _JOINERS for one in text)


def has_own_title(memory: Memory, shown: str) -> bool:
    """Whether the title differs from the beginning of the text."""
    title = memory.title.rstrip("…. ")
    return bool(title) and not shown.lstrip("#*- ").startswith(title)


def mark(text: str, question: str) -> Markup:
    """A text as HTML with the words of a question marked, escaped."""
    words = [
        word
        for word in re.findall(r"\w+", question)
        if len(word) >= _MARKED_CHARS_MIN and word.lower() not in STOP_WORDS
    ]
    if not words:
        return escape(text)
    longest = sorted(set(words), key=len, reverse=True)[:_MARKED_MAX]
    pattern = re.compile("|".join(rf"\b{re.escape(word)}\w*" for word in longest), re.IGNORECASE)
    out, at = Markup(), 0
    for found in pattern.finditer(text):
        out += escape(text[at : found.start()]) + Markup("<mark>{}</mark>").format(found[0])
        at = found.end()
    return out + escape(text[at:])


def diff(old: str, new: str) -> Markup:
    """The difference of two texts as deleted and inserted HTML."""
    if len(old) + len(new) > _WORD_DIFF_CHARS_MAX:
        before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    else:
        before, after = _WORD.findall(old), _WORD.findall(new)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    out = Markup()
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            out += escape("".join(before[a:b]))
            continue
        if b > a:
            out += Markup("<del>{}</del>").format("".join(before[a:b]))
        if d > c:
            out += Markup("<ins>{}</ins>").format("".join(after[c:d]))
    return out


_TAGS = {
    *("p", "br", "hr", "blockquote", "pre", "code", "em", "strong", "s", "a"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_SCHEMES = {"http", "https", "mailto"}
# A longer text is shown without formatting: nobody reads it as a page.
CHARS_MAX = 400_000


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def to_html(text: str) -> Markup:
    """Markdown as safe HTML for the web page. Pictures are left out: they would be fetched from
    elsewhere."""
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


_TYPES = {
    "app.css": "text/css; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "pictures.js": "text/javascript; charset=utf-8",
    "theme.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "uPlot.iife.min.js": "text/javascript; charset=utf-8",
    "uPlot.min.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_HASH_CHARS = 12


class StaticFile(NamedTuple):
    """One static file of the web page with its headers."""

    name: str
    hash: str
    plain: bytes
    packed: bytes


@cache
def load(name: str) -> StaticFile:
    plain = files("holdfast.edges.web").joinpath("static", name).read_bytes()
    hashed = hashlib.sha256(plain).hexdigest()[:_HASH_CHARS]
    return StaticFile(name, hashed, plain, gzip.compress(plain, 9, mtime=0))


def url_of(name: str) -> str:
    """The address of a static file, which changes with its content."""
    return f"/static/{load(name).hash}/{name}"


def _serve(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _TYPES:
        return Response("There is no such file.", 404, media_type="text/plain")
    found = load(name)
    # Under another hash it is served too, for a page from before an upgrade, but not kept.
    same = request.path_params["hash"] == found.hash
    headers = {
        "Content-Type": _TYPES[name],
        "Cache-Control": "public, max-age=31536000, immutable" if same else "no-cache",
        "Vary": "Accept-Encoding",
    }
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.packed, headers={**headers, "Content-Encoding": "gzip"})
    return Response(found.plain, headers=headers)


ROUTES = [Route("/static/{hash}/{name}", _serve, include_in_schema=False)]
