"""The search page: one field with the ranking of `recall`, filters, and a past date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.memory import KINDS, LAYERS, SOURCES, STATES
from holdfast.edges.web import rendering
from holdfast.edges.web.rendering import t
from holdfast.edges.web.visit import Visit, route
from holdfast.engine.reading.listing import pages_without_copies
from holdfast.errors import NotFound

if TYPE_CHECKING:
    from starlette.responses import Response

    from holdfast.api.hub import HubMemory
    from holdfast.domain.memory import Memory
    from holdfast.domain.query import Hit, Page
    from holdfast.domain.records import Turn

_HITS_MAX = 30
# A state is chosen among this many hits.
_HITS_OF_A_STATE = 200
_LIST_MAX = 30
_CATEGORIES_MAX = 60
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
# Which parts of a score are shown together, in the order of the bar.
_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("meaning", ("vector", "guessed")),
    ("words", ("words", "keywords", "substring")),
    ("around", ("session", "neighbour", "voice", "window", "kind", "project")),
    ("standing", ("pinned", "stability", "access")),
)


class SearchForm(NamedTuple):
    """The search form of the page 'Find'."""

    q: str = ""
    layer: str = ""
    category: str = ""
    kind: str = ""
    state: str = ""
    who: str = ""
    when: str = ""
    as_of: str = ""

    @property
    def filtered(self) -> bool:
        return any(self[1:])


class Segment(NamedTuple):
    """One piece of a score's bar: its group, and its start and width in percent."""

    group: str
    start: float
    width: float
    amount: float


class ResultRow(NamedTuple):
    """One memory in a list of the web page; in a search, with its score and reasons."""

    memory: Memory
    text: str
    score: float | None = None
    why: Sequence[str] = ()
    parts: Mapping[str, float] = {}
    segments: Sequence[Segment] = ()
    probability: float = 1.0
    turn: Turn | None = None
    around: Sequence[Turn] = ()


class Results(NamedTuple):
    """The rows of a list of the web page, and what was left out."""

    rows: Sequence[ResultRow]
    cursor: str | None = None
    degraded: Sequence[str] = ()
    filtered: Mapping[str, int] = {}
    searched: bool = False
    clear: bool = True


def asked_of(visit: Visit) -> SearchForm:
    return SearchForm(**{name: visit.query(name) for name in SearchForm._fields})


def _since(asked: SearchForm, now: datetime) -> datetime | None:
    days = _DAYS.get(asked.when)
    return None if days is None else now - timedelta(days=days)


def _end_of(day: str) -> str | None:
    """The last moment of a day. Any other text is passed to the operation, which refuses it."""
    return f"{day}T23:59:59.999999Z" if len(day) == 10 else day or None


def search(visit: Visit, hub: HubMemory, asked: SearchForm) -> Results:
    """The hits for the question; without a question, the newest memories."""
    if not asked.q:
        return _listed(visit, hub, asked)
    query = f'{asked.q} source:"{asked.who}"' if asked.who in SOURCES else asked.q
    hits = hub.recall(
        query,
        limit=_HITS_OF_A_STATE if asked.state else _HITS_MAX,
        layer=asked.layer or None,
        category=asked.category or None,
        kind=asked.kind or None,
        since=_since(asked, hub.core.now()),
        as_of=_end_of(asked.as_of),
        include_archived=asked.state == "archived",
        around=1,
    )
    shown = [hit for hit in hits if asked.state in ("", hit.memory.state)][:_HITS_MAX]
    return Results(
        _rows(shown), None, hits.degraded, hits.filtered, searched=True, clear=hits.is_clear
    )


def _listed(visit: Visit, hub: HubMemory, asked: SearchForm) -> Results:
    def fetch(limit: int | None, cursor: str | None) -> Page:
        return hub.list(
            layer=asked.layer or None,
            category=asked.category or None,
            kind=asked.kind or None,
            state=asked.state if asked.state in STATES else None,
            source=asked.who if asked.who in SOURCES else None,
            forgotten=asked.state == "forgotten",
            since=_since(asked, hub.core.now()),
            as_of=_end_of(asked.as_of),
            limit=limit,
            cursor=cursor,
        )

    page = next(pages_without_copies(fetch, _LIST_MAX, visit.query("cursor") or None))
    return Results([ResultRow(memory, memory.content) for memory in page], page.cursor)


def _rows(hits: Sequence[Hit]) -> list[ResultRow]:
    most = (
        max((sum(part for part in hit.parts.values() if part > 0) for hit in hits), default=0.0)
        or 1.0
    )
    return [
        ResultRow(
            hit.memory,
            hit.passage.text or hit.memory.content,
            hit.score,
            hit.why,
            hit.parts,
            segments_of(hit.parts, most),
            hit.probability,
            hit.turn,
            hit.around,
        )
        for hit in hits
    ]


def segments_of(parts: Mapping[str, float], most: float) -> list[Segment]:
    """The parts of a score as pieces of a bar; `most` is the score that fills the bar."""
    out, at = [], 0.0
    for group, names in _GROUPS:
        amount = sum(max(parts.get(name, 0.0), 0.0) for name in names)
        width = 100 * amount / most
        if width > 0:
            out.append(Segment(group, round(at, 2), round(width, 2), amount))
            at += width
    return out


def _values(visit: Visit, hub: HubMemory, asked: SearchForm) -> dict[str, Any]:
    found = search(visit, hub, asked)
    query = rendering.query_string(asked._asdict())
    more = asked._asdict() | {"cursor": found.cursor}
    return {
        "asked": asked,
        "found": found,
        "query": query,
        "more": rendering.query_string(more) if found.cursor else "",
    }


def _find(visit: Visit) -> Response:
    """The page. Its counts are fetched afterwards, by `_facets`."""
    hub = visit.hub()
    asked = asked_of(visit)
    values = _values(visit, hub, asked)
    values |= {
        "tab": "find",
        "layers": (*LAYERS, "turn"),
        "categories": [asked.category] if asked.category else [],
        "kinds": KINDS,
        "states": (*STATES, "forgotten"),
        "sources": SOURCES,
        "whens": tuple(_DAYS),
        "today": hub.core.now().astimezone(UTC).date().isoformat(),
    }
    return visit.page("find.html", values)


def _start(visit: Visit) -> Response:
    """The page without a hub in its address. Who reaches several, none of which is the usual one,
    begins in the first; the frame of every page has the list of all."""
    try:
        visit.hub()
    except NotFound:
        if not visit.hubs:
            raise
        query = visit.request.url.query
        return visit.redirect(visit.url(f"?{query}" if query else "", hub=visit.hubs[0][0]))
    return _find(visit)


def _facets(visit: Visit) -> Response:
    """The counts: categories, the age of the oldest memory, and items that wait for review."""
    hub = visit.hub()
    counted = hub.statistics()
    now = hub.core.now()
    oldest = counted.oldest or now
    categories = sorted(counted.by_category, key=lambda one: -counted.by_category[one])
    return visit.json(
        {
            "categories": categories[:_CATEGORIES_MAX],
            "oldest": oldest.astimezone(UTC).date().isoformat(),
            "days": max((now - oldest).days + 1, 1),
            "waiting": counted.waiting,
        }
    )


def _results(visit: Visit) -> Response:
    hub = visit.hub()
    asked = asked_of(visit)
    answer = visit.fragment("_results.html", _values(visit, hub, asked))
    if not visit.query("cursor"):
        # The address follows the search; typing does not fill the browser's history.
        answer.headers["HX-Replace-Url"] = visit.url(rendering.query_string(asked._asdict()))
    return answer


def _no_page(visit: Visit) -> Response:
    raise NotFound(t("error.no_page"))


# They come after the routes of all pages, as they match the address of each.
NO_PAGE = [
    route("/h/{hub}/{page:path}", _no_page),
    route("/h/{hub}/{page:path}", _no_page, post=True),
]
ROUTES = [
    route("/", _start),
    route("/h/{hub}", _find),
    route("/h/{hub}/results", _results),
    route("/h/{hub}/facets", _facets),
]
