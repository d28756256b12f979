"""The decorators that declare the operations of a hub, and the descriptions of their parameters.

Each public method of `HubMemory` is decorated with `reads` or `writes`. The declaration says which
permission the caller needs, whether the operation is retried after the connection to the store was
lost, which files are updated after it, how long a server lets it run, and whether it works through
a server. Every layer reads the declaration; there is no list of method names. How an operation
combines a project's hub with the personal hub is a method of `api/project_hub.py`.

A parameter of the same name means the same in every operation, so each is described once, in
`PARAMETERS`. The command line takes its help and completions from there, and REST the descriptions
of its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sized
from enum import Flag, auto
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeAlias, TypeVar, cast

from holdfast.api.arguments import check_arguments, checks_of
from holdfast.domain.memory import (
    BOUNDARIES,
    CATEGORIES,
    CONTENT_TYPES,
    KINDS,
    LAYERS,
    SOURCES,
    STABILITIES,
    STATES,
    TRUSTS,
)
from holdfast.domain.query import ORDERS
from holdfast.errors import InvalidInput
from holdfast.system.named_tuple import NamedTuple

if TYPE_CHECKING:
    from holdfast.domain.hub import Act


P = ParamSpec("P")
R = TypeVar("R")


class Follow(Flag):
    """Files of a hub that may need to be rewritten after an operation."""

    NOTHING = 0
    MEMORY_MD = auto()
    INBOX = auto()
    JOURNALS = auto()
    TOOL_FILES = auto()


# The files that a change of a memory may affect.
MEMORY_FILES = Follow.MEMORY_MD | Follow.INBOX
# The files that an operation may affect which hides, restores or rewrites any memory.
ALL_FILES = MEMORY_FILES | Follow.JOURNALS | Follow.TOOL_FILES

# The server's time limit for an operation: that of a request, that of a recall, or none.
Deadline: TypeAlias = Literal["request", "recall"] | None

# Reasons why an operation does not work through a server.
FILES_ARE_LOCAL = "it is about the hub's files, which are on the server's machine"
UPKEEP_IS_LOCAL = "it is upkeep, which is done on the server itself"
STREAMS_ARE_LOCAL = "any number in one change set needs the store itself; use remember_many"


class Operation(NamedTuple):
    """The declaration of an operation."""

    writes: bool
    # The permission that a server requires of the caller's role before it runs the operation.
    # Permissions on a single memory are checked by the engine, for local callers too.
    permission: Act
    # Whether edits in the hub's files are read before it, and which files are written after it.
    sync: bool
    follow: Follow
    # Whether it is retried after the connection to the store was lost. Never for an operation that
    # writes a file first: a second attempt would write it twice.
    retry: bool
    deadline: Deadline
    # Why it does not work through a server; empty if it does.
    local: str
    # The largest number or most items that a server accepts for an argument in one request.
    limits: Mapping[str, int]
    # Whether it is idempotent, so that after a crash of the server it may be run again under the
    # same idempotency key.
    replay: bool = True
    # Whether it removes text permanently, so that the files must not contain it either.
    purges: bool = False
    # Whether a remote hub sends it with a hand-written request, because it takes files of the
    # caller's machine or another hub.
    own_request: bool = False
    # Read from the method: its name, whether it returns an iterator, and whether it returns a page
    # that is requested with `limit` and `cursor`.
    name: str = ""
    stream: bool = False
    paged: bool = False


def reads(
    *,
    permission: Act = "read",
    sync: bool = True,
    follow: Follow = Follow.NOTHING,
    retry: bool = True,
    deadline: Deadline = "request",
    local: str = "",
    limits: Mapping[str, int] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declares an operation that changes no memory."""
    return _declaring(
        Operation(False, permission, sync, follow, retry, deadline, local, limits or {})
    )


def writes(
    *,
    permission: Act = "write",
    sync: bool = True,
    follow: Follow = MEMORY_FILES,
    retry: bool = True,
    replay: bool = False,
    purges: bool = False,
    deadline: Deadline = "request",
    local: str = "",
    limits: Mapping[str, int] | None = None,
    own_request: bool = False,
    checked: bool = True,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declares an operation that may change memories. One that is not `checked` answers arguments
    of wrong types by itself."""
    return _declaring(
        Operation(
            True,
            permission,
            sync,
            follow,
            retry,
            deadline,
            local,
            limits or {},
            replay=replay,
            purges=purges,
            own_request=own_request,
        ),
        checked=checked,
    )


def operation_of(method: Any) -> Operation | None:
    """The declaration of a method; None if it is not an operation."""
    return cast("Operation | None", getattr(method, "__operation__", None))


def operations_of(hub: type) -> dict[str, Operation]:
    """The declarations of all operations of a hub class, by name."""
    found = ((name, operation_of(getattr(hub, name))) for name in dir(hub) if name[0] != "_")
    return {name: declared for name, declared in found if declared is not None}


def remote_operations_of(hub: type) -> dict[str, Operation]:
    """The declarations of the operations that a server runs for a remote hub."""
    return {
        name: declared
        for name, declared in operations_of(hub).items()
        if not declared.local and not declared.own_request
    }


def check_limits(operation: Operation, values: Mapping[str, Any]) -> None:
    """Raises InvalidInput for more than a server accepts in one request."""
    for name, most in operation.limits.items():
        value = values.get(name)
        if isinstance(value, int) and value > most:
            raise InvalidInput(
                f"The {name} is {value}; a server gives {most} at most.", hint="Ask for fewer."
            )
        if isinstance(value, Sized) and not isinstance(value, str) and len(value) > most:
            raise InvalidInput(
                f"These are {len(value)} {name}; a server takes {most} at once, all or none.",
                hint="Send them in parts.",
            )


class Call(NamedTuple):
    """One call of an operation: its declaration, the method that does the work, and the
    arguments."""

    operation: Operation
    method: Callable[..., Any]
    args: tuple[Any, ...]
    values: dict[str, Any]

    @property
    def has_iterator(self) -> bool:
        """Whether an argument can be iterated only once, so that a retry would find it empty."""
        return any(isinstance(one, Iterator) for one in (*self.args, *self.values.values()))

    def run(self, hub: Any) -> Any:
        """Does the work on a hub, or on the people of a place."""
        return self.method(hub, *self.args, **self.values)


def _declaring(
    given: Operation, *, checked: bool = True
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Makes a decorator that routes calls of a method through `_perform` with its declaration."""

    def decorate(method: Callable[P, R]) -> Callable[P, R]:
        declared = given._replace(
            name=method.__name__, stream=_is_stream(method), paged=_is_page(method)
        )

        @wraps(method)
        def perform(self: Any, *args: Any, **values: Any) -> Any:
            if checked:
                check_arguments(checks_of(method), args, values)
            return self._perform(Call(declared, method, args, values))

        perform.__operation__ = declared  # type: ignore[attr-defined]
        return cast("Callable[P, R]", perform)

    return decorate


def _is_stream(method: Callable[..., Any]) -> bool:
    return str(method.__annotations__.get("return", "")).startswith("Iterator")


def _is_page(method: Callable[..., Any]) -> bool:
    return method.__annotations__.get("return") == "Page"


class Parameter(NamedTuple):
    """The description of a parameter. `values` are suggestions; the engine checks what is
    passed."""

    about: str = ""
    values: tuple[str, ...] = ()

    @property
    def described(self) -> str:
        """The description, or else the values."""
        return self.about or ", ".join(self.values)


PARAMETERS: Mapping[str, Parameter] = {
    # A memory
    "reference": Parameter("the memory: its number (12), its id (mem_…) or its key"),
    "references": Parameter("the memory: its number (12), its id (mem_…) or its key"),
    "title": Parameter("instead of one taken from the content"),
    "summary": Parameter("instead of one taken from the content"),
    "content_type": Parameter(values=CONTENT_TYPES),
    "key": Parameter("a name of its own; the same key updates"),
    "category": Parameter("for example preference or fact", CATEGORIES),
    "tags": Parameter("a tag"),
    "kind": Parameter(values=KINDS),
    "stability": Parameter(values=STABILITIES),
    "boundary": Parameter(values=BOUNDARIES),
    "layer": Parameter(values=LAYERS),
    "state": Parameter(values=(*STATES, "all")),
    "session": Parameter("the conversation it is from"),
    "speaker": Parameter("who said it"),
    "occurred_at": Parameter("when it happened, or was said"),
    "occurred_until": Parameter("when it was over"),
    "valid_from": Parameter("when it begins to hold"),
    "valid_until": Parameter("when it ceases to hold"),
    "expires_at": Parameter("when it is archived"),
    "ttl": Parameter("archive it after this long"),
    "metadata": Parameter("an object with whatever you need"),
    "pinned": Parameter("keep it from ageing"),
    "trust": Parameter("who said it: " + ", ".join(TRUSTS), TRUSTS),
    "source": Parameter("where it came in", SOURCES),
    "source_path": Parameter("where it comes from"),
    "source_agent": Parameter("the agent that it comes from"),
    "assisted_by_agent": Parameter("the agent that helped to write it"),
    "supersedes": Parameter("the memory that it replaces"),
    "parent": Parameter("the memory that it is a part of"),
    "origin": Parameter("where in a conversation it was taken from"),
    "fetch": Parameter("whether the page behind a link is fetched"),
    "expected_version": Parameter("refuse if it moved on"),
    # Selecting memories
    "query": Parameter("the question"),
    "where": Parameter("on metadata and fields, such as 'priority >= 3 and team = core'"),
    "since": Parameter("happened or said not before"),
    "until": Parameter("not after; a day counts to its end"),
    "as_of": Parameter("as things stood then"),
    "include_archived": Parameter("archived memories too"),
    "forgotten": Parameter("what was forgotten"),
    "quarantined": Parameter("what waits for review"),
    "order": Parameter(values=ORDERS),
    "limit": Parameter("how many"),
    "cursor": Parameter("go on where the last page ended"),
    # How to search
    "explain": Parameter("say why each hit ranked"),
    "meaning": Parameter("match words and meaning; without it words only"),
    "turns": Parameter("find turns of the conversation log too"),
    "around": Parameter("with N turns before and after a turn"),
    "caution": Parameter("1 finds nothing unlikely, 0.5 finds more, 0 always the closest"),
    "plain": Parameter("no character of the query is an operator"),
    "project": Parameter("a folder or a name; what belongs to it ranks a little higher"),
    "now": Parameter("the moment of the question"),
    "zone": Parameter("the time zone of the question"),
    # Changes
    "reason": Parameter("why; kept in the history"),
    "dry_run": Parameter("only say what would happen"),
    "force": Parameter("also over later changes"),
    "every": Parameter("all of them"),
    "note": Parameter("why"),
    # The conversation log
    "at": Parameter("when it was"),
    "days": Parameter("how many days"),
    "new": Parameter("its new name"),
}
