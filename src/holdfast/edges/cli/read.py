"""Commands that search and read: recall, get, list, related; and context, which prints the block
for an agent's prompt."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from holdfast.api.hub import HubMemory
from holdfast.domain.memory import SOURCES, TURN
from holdfast.edges.cli.bind import Flags, flag, joined, number
from holdfast.edges.cli.command import Commands, Namespace, option, switch, whole
from holdfast.edges.cli.output import note_absent_category, note_filters, short, times
from holdfast.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.domain.memory import Memory
    from holdfast.domain.query import Hit, Page, Recalled
    from holdfast.domain.records import Turn
    from holdfast.edges.cli.call import Call
    from holdfast.engine.context.build import Context


COMMANDS = Commands()

# One screen; a pipe gets everything.
_PAGE = 20
# Memories fetched at a time without a limit, so that listing a million needs constant memory.
_BATCH = 500
# Hits that were left out, one per line: as many as can be read at a glance.
_LEFT_OUT = 5
_LEFT_OUT_CHARS = 60
# A hit less likely than this share of the best one is a weaker match.
_WEAKER_SHARE = 1 / 3


# recall


_RECALL = Flags(
    HubMemory.recall,
    omit=("now", "zone", "plain", "project"),
    query=flag(nargs="+", metavar="WORD", convert=joined),
    limit=flag(about="how many hits (setting recall.limit)"),
    session=flag(about="of this conversation"),
    include_archived=flag("--all"),
    meaning=flag("--words", about="match words only: no model, fast"),
    turns=flag("--no-turns", about="without the conversation log"),
    caution=flag(metavar="SHARE", convert=number),
)


@COMMANDS.add("recall", "holdfast recall tabs or spaces --limit 3 --explain", _RECALL)
def _recall(call: Call, args: Namespace) -> None:
    """Find memories that answer a question, best first.

    The question may hold "quoted phrases", -exclusions and filters such as category:fact;
    put it into quotes for the shell.
    In a pipe, a line per hit: number, score, time, category, passage (with --explain: why)."""
    query = " ".join(args.query)
    # If no memory answers, a person is shown the closest one.
    explain = args.explain or call.out.terminal
    found = _RECALL.run(call, args, zone=call.out.zone, explain=explain)
    if call.out.json:
        call.out.value(list(found), **_about(found), query=query)
        return
    call.out.degraded(found.degraded)
    if not found:
        _note_nothing(call, found, query, explain=args.explain)
        note_absent_category(call, args.category, query)
    note_filters(call, query)
    _show_hits(call, found, explain=args.explain)
    if args.explain:
        _note_left_out(call, found)


def _about(found: Recalled) -> dict[str, Any]:
    """Remarks about the result, for JSON."""
    names = ("confidence", "degraded", "filtered", "left_out")
    return {name: getattr(found, name) for name in names}


# A pasted question is cut to this in what is printed about it.
_QUERY_CHARS = 100


def _note_nothing(call: Call, found: Recalled, query: str, *, explain: bool) -> None:
    words = query if len(query) <= _QUERY_CHARS else query[:_QUERY_CHARS] + "…"
    call.out.note(f"Nothing found for “{words}”.")
    held = sum(found.filtered.values())
    if not held:
        return
    # With --explain they are listed below.
    rest = "" if explain else "; add --explain to see why"
    said = "1 memory was" if held == 1 else f"{held:,} memories were"
    call.out.note(f"{said} compared with it and left out{rest}.")
    if call.out.terminal and not explain and found.left_out:
        closest = found.left_out[0]
        name, title = _name_and_title(closest.memory)
        call.out.note(f"The closest is {name} {title}: {closest.reason}.")


def _name_and_title(memory: Memory) -> tuple[str, str]:
    name = "a turn" if memory.layer == TURN else f"#{memory.number}"
    return name, short(memory.title or memory.content, _LEFT_OUT_CHARS)


def _note_left_out(call: Call, found: Recalled) -> None:
    for item in found.left_out[:_LEFT_OUT]:
        name, title = _name_and_title(item.memory)
        call.out.note(f"Left out {name} ({item.score:.2f}) {title}: {item.reason}.")
    if more := found.left_out[_LEFT_OUT:]:
        call.out.note(f"Left out {len(more)} more; --json names them all.")


def _show_hits(call: Call, found: Recalled, *, explain: bool) -> None:
    """Prints the hits. A person reads in words how well they match: '45% likely' beside a right
    answer would look like doubt."""
    best = max((hit.probability for hit in found), default=1.0)
    if call.out.terminal and not found.is_clear:
        call.out.note("No clear match. The closest:")
    for hit in found:
        is_weaker = hit.probability < best * _WEAKER_SHARE
        _show_hit(call, hit, explain=explain, match=" · weaker match" if is_weaker else "")
    if explain and found:
        call.out.note(_ABOUT_SCORES)


_ABOUT_SCORES = (
    "Scores order the hits of one answer: they have no upper limit and cannot be compared between"
    " questions. --json has the probability that a hit answers."
)


def _said(turn: Turn) -> str:
    """The speaker of a turn, and its session."""
    who = f"said by {turn.speaker or turn.voice}"
    return f"{who} in {turn.session}" if turn.session else who


def _show_hit(call: Call, hit: Hit, *, explain: bool, match: str = "") -> None:
    memory = hit.memory
    at = call.out.time(memory.dated)
    why = "; ".join(hit.why)
    named = call.named(memory) if hit.turn is None else "turn"
    filed = memory.category if hit.turn is None else _said(hit.turn)
    if not call.out.terminal:
        fields = [named, f"{hit.score:.4f}", at, filed, hit.passage.text]
        call.out.row(*fields, *([why] if explain else []))
        for turn in hit.around:
            call.out.row("around", "", call.out.time(turn.at), _said(turn), turn.content)
        return
    call.out.parts(
        (named, "bold cyan"),
        (f"  {' '.join(memory.title.split())}" if memory.title else "", "bold"),
        (f"  {filed} · {at}{match}", "dim"),
    )
    if hit.passage.text.strip() != memory.title:  # A short note is its own title.
        for line in hit.passage.text.strip().splitlines():
            call.out.line(f"    {line}")
    for turn in hit.around:
        call.out.line(f"    {_said(turn)}: {short(turn.content, _LEFT_OUT_CHARS)}", "dim")
    if explain:
        call.out.line(f"    why: {why}", "dim")
        parts = ", ".join(f"{name} {value:+.3f}" for name, value in hit.parts.items())
        call.out.line(f"    score {hit.score:.2f}: {parts}", "dim")


# get


_GET = Flags(HubMemory.get)


@COMMANDS.add(
    "get",
    "holdfast get 12 --as-of yesterday",
    _GET,
    switch("--no-access", "do not count this as a use"),
    switch("--content", "only the content, to the letter"),
)
def _get(call: Call, args: Namespace) -> None:
    """Show one memory in full.

    Counts as a use of the memory, unless it looks at the past or --no-access is given."""
    if args.as_of is not None or args.no_access:
        memory = _GET.run(call, args)
    else:
        memory = call.hub.access(args.reference)
    if call.out.json:
        call.out.value(memory)
    elif args.content:
        call.out.raw(f"{memory.content}\n")
    else:
        _show_memory(call, memory)


def _show_memory(call: Call, memory: Memory) -> None:
    call.out.parts((call.named(memory), "bold cyan"), (f"  {short(memory.title)}", "bold"))
    for name, value in _facts(call, memory):
        call.out.parts((f"{name}: ", "dim"), (short(value, 1_000), ""))
    call.out.line()
    # Control characters are made visible in a pipe too, because a pipe may end on a terminal.
    # `--content` prints the text unchanged.
    call.out.line(memory.content)


# A memory with more sources than this is the merge of a whole file; --json has all of them.
_SOURCES_SHOWN = 10


def _facts(call: Call, memory: Memory) -> list[tuple[str, str]]:
    from holdfast.domain.memory import made_from

    moments = [
        (name, call.out.time(getattr(memory, f"{name}_at")))
        for name in ("occurred", "created", "updated", "accessed", "expires", "forgotten")
    ]
    valid = f"{call.out.time(memory.valid_from)} … {call.out.time(memory.valid_until)}"
    state = f"{memory.state} ({memory.state_reason})" if memory.state_reason else memory.state
    facts = [
        ("id", memory.id),
        ("key", memory.key or ""),
        ("category", memory.category),
        ("tags", ", ".join(memory.tags)),
        ("kind", f"{memory.kind}, {memory.stability}"),
        ("layer", memory.layer),
        ("state", state),
        ("pinned", "yes" if memory.pinned else ""),
        ("held for review", memory.quarantine),
        ("session", memory.session or ""),
        ("speaker", memory.speaker or ""),
        ("source", " ".join(filter(None, (memory.source, memory.source_path)))),
        *moments,
        ("valid", valid if memory.valid_from or memory.valid_until else ""),
        ("made from", ", ".join(_number(call, one) for one in made_from(memory)[:_SOURCES_SHOWN])),
        ("supersedes", _number(call, memory.supersedes)),
        ("superseded by", _number(call, memory.superseded_by)),
        ("version", str(memory.version)),
        ("used", f"{times(memory.access_count)}, shown {times(memory.shown_count)}"),
    ]
    return [(name, value) for name, value in facts if value]


def _number(call: Call, memory_id: str | None) -> str:
    """The name of the memory with that id for the user, such as `#12`."""
    if memory_id is None:
        return ""
    try:
        return f"#{call.hub.find(memory_id).number}"
    except NotFound:
        return memory_id


# list


_LIST = Flags(
    HubMemory.list,
    source=flag(about=f"where it came in: {', '.join(SOURCES)}"),
    session=flag(about="of this conversation"),
    pinned=flag(about="only pinned ones"),
    limit=flag(about=f"how many ({_PAGE} on a terminal, all of them in a pipe)"),
)


@COMMANDS.add(
    "list",
    "holdfast list --category preference --since 30d",
    _LIST,
    option("--page", "N", "with --limit: which part", type=whole, default=1),
)
def _list(call: Call, args: Namespace) -> None:
    """List memories, newest first.

    In a pipe, a line per memory: number, time, category, state, key, title."""
    wanted = _LIST.values(call, args)
    cursor = wanted.pop("cursor", None)
    limit = wanted.pop("limit", None)
    if args.page < 1:
        raise InvalidInput(f"There is no page {args.page}.", hint="Pages count from 1.")
    if limit is None and (call.out.terminal or args.page > 1):
        limit = _PAGE
    if limit is None and not call.out.json:
        _list_everything(call, wanted, cursor)
        return
    pages = islice(_pages(call, wanted, limit, cursor), args.page - 1, None)
    page = next(pages, None)
    if page is None:
        raise InvalidInput(f"There is no page {args.page}.", hint="Ask for an earlier one.")
    if call.out.json:
        call.out.value(list(page), next_cursor=page.cursor)
        return
    _show_list(call, page)
    if not page:
        call.out.note("Nothing here.")
    if not page or call.out.terminal:
        call.note_own_hub()
    if not page:
        note_absent_category(call, args.category)
    if page.cursor is not None:
        call.out.note(f"There is more: add --page {args.page + 1}")


def _pages(
    call: Call, wanted: dict[str, Any], limit: int | None, cursor: str | None
) -> Iterator[Page]:
    """Yields pages of a list. A pipe gets every row; a person, none that repeats another."""

    def fetch(limit: int | None, cursor: str | None) -> Page:
        return call.hub.list(**wanted, limit=limit, cursor=cursor)

    if call.out.terminal:
        from holdfast.engine.reading.listing import pages_without_copies

        yield from pages_without_copies(fetch, limit, cursor)
        return
    while True:
        page = fetch(limit, cursor)
        yield page
        if page.cursor is None:
            return
        cursor = page.cursor


def _list_everything(call: Call, wanted: dict[str, Any], cursor: str | None) -> None:
    # A list of the past is built completely anyway, so it is fetched at once.
    limit = None if "as_of" in wanted else _BATCH
    shown = 0
    while True:
        page = call.hub.list(**wanted, limit=limit, cursor=cursor)
        _show_list(call, page)
        shown += len(page)
        cursor = page.cursor
        if not shown:
            call.out.note("Nothing here.")
            call.note_own_hub()
            note_absent_category(call, wanted.get("category"))
        if cursor is None:
            return


# The width of a terminal that has room for every column of a list.
_WIDE = 60


def _show_list(call: Call, page: Page | list[Memory]) -> None:
    rows = [
        (
            f"#{memory.number}",
            call.out.time(memory.dated),
            memory.category,
            _state(memory),
            memory.key or "",
            memory.title,
        )
        for memory in page
    ]
    if not rows:
        return
    headings = ("#", "when", "category", "state", "key", "title")
    empty = _says_nothing(call, rows)
    call.out.table(
        [one for at, one in enumerate(headings) if at not in empty],
        [[one for at, one in enumerate(row) if at not in empty] for row in rows],
    )


def _says_nothing(call: Call, rows: Sequence[tuple[str, ...]]) -> set[int]:
    """On a terminal, the columns to leave out in favour of the title: keys if there are none, and
    on a narrow terminal the state if all are active."""
    if not call.out.terminal:
        return set()
    plain = {4: ""} if call.out.console().width >= _WIDE else {3: "active", 4: ""}
    return {at for at, value in plain.items() if all(row[at] == value for row in rows)}


def _state(memory: Memory) -> str:
    if memory.forgotten_at is not None:
        return "forgotten"
    if memory.quarantine:
        return "held"
    if memory.superseded_by is not None:
        return "superseded"
    return "pinned" if memory.pinned else memory.state


# related


_RELATED = Flags(HubMemory.related, limit=flag(about="how many (5)"))


@COMMANDS.add(
    "related",
    "holdfast related 12 --limit 3",
    _RELATED,
    switch("--explain", "say why each one is near"),
)
def _related(call: Call, args: Namespace) -> None:
    """Show memories that are similar to a memory."""
    found = _RELATED.run(call, args)
    if call.out.json:
        call.out.value(list(found), **_about(found))
        return
    call.out.degraded(found.degraded)
    if not found:
        call.out.note("Nothing is near it.")
    _show_hits(call, found, explain=args.explain)


# A copy of the names in engine.styles.STYLES, so that help does not load the engine.
_STYLES = ("plain", "xml", "max", "maven", "minion")

_CONTEXT = Flags(
    HubMemory.context,
    omit=("unit", "explain"),
    query=flag(metavar="TEXT", about="the same, as an option"),
    budget=flag(about="at most this many characters, or tokens"),
    style=flag(offers=_STYLES, about=", ".join(_STYLES)),
    count_tokens=flag(
        "--tokenizer",
        metavar="NAME",
        about="count tokens with this one, for example tiktoken:o200k_base",
    ),
)


@COMMANDS.add(
    "context",
    'holdfast context --query "set up the editor" --budget 4000',
    option("words", "WORD", "what the agent is about to answer", nargs="*"),
    _CONTEXT,
    switch("--tokens", "the budget is in tokens"),
    switch("--explain", "say what is left out of the block, and why"),
)
def _context(call: Call, args: Namespace) -> None:
    """Print the context block for an agent's prompt.

    With a question: standing facts, then the memories and turns that answer it. Without:
    long-term memory, the journal of today and yesterday, and where the last session ended.
    Never more than the budget (setting context.chars_max).
    Without a tokenizer, tokens are counted by an upper bound that holds for any model."""
    given: dict[str, Any] = {"unit": "tokens" if args.tokens else "chars"}
    if args.words and not args.query:
        given["query"] = " ".join(args.words)
    if not (args.words or args.query or args.explain or call.out.json):
        # The text alone: saying what is left out means reading every memory, and only the answer to
        # a question may be degraded.
        text: str = _CONTEXT.run(call, args, explain=False, **given)
        if text:
            call.out.line(text.removesuffix("\n"))
        return
    # An explained result also says whether it is degraded.
    built: Context = _CONTEXT.run(call, args, explain=True, **given)
    call.out.degraded(built.degraded)
    if call.out.json:
        call.out.value(_plain_context(call.hub.name, built, explain=args.explain))
        return
    if built.text:
        # Printed unchanged: exactly what an agent gets.
        call.out.line(built.text.removesuffix("\n"))
    if args.explain:
        _explain_context(call, built)


def _explain_context(call: Call, built: Context) -> None:
    unit = "characters" if built.unit == "chars" else "tokens"
    call.out.note(f"{len(built.included)} in, {built.used} of {built.budget} {unit}.")
    for absent in built.left_out:
        memory = absent.memory
        call.out.note(f"Left out #{memory.number} {short(memory.title)}: {absent.reason}.")


def _plain_context(hub: str, built: Context, *, explain: bool) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "hub": hub,
        "text": built.text,
        "used": built.used,
        "budget": built.budget,
        "unit": built.unit,
        "degraded": list(built.degraded),
    }
    if explain:
        plain["included"] = [memory.number for memory in built.included]
        plain["left_out"] = [
            {
                "number": absent.memory.number,
                "id": absent.memory.id,
                "title": absent.memory.title,
                "section": absent.section,
                "reason": absent.reason,
            }
            for absent in built.left_out
        ]
    return plain
