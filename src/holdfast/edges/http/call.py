"""One request: who makes it, which hub it is about, and the memory behind it. The key is looked up
in the thread that does the work, once, when it is first needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Header, Request
from fastapi.routing import APIRoute
from pydantic import BaseModel

from holdfast.api.caller import Caller
from holdfast.api.hub import HubMemory
from holdfast.edges.http.answers import Refused
from holdfast.engine.people import keys
from holdfast.errors import Forbidden

if TYPE_CHECKING:
    from holdfast.api.memory import Holdfast
    from holdfast.api.people import CallersPeople
    from holdfast.domain.access import Act
    from holdfast.store.base import Writer

# Where a client says which hub it means: a name or an id.
HUB_HEADER = "X-Hub-ID"
# Query parameters that must not hold a key: URLs are logged and passed on.
_KEYS_IN_QUERY = ("key", "api_key", "apikey", "token", "access_token")
# A key of Holdfast is recognised by its form, whatever the parameter is called.
_KEY = re.compile(re.escape(keys.KEY_PREFIX) + r"[A-Za-z0-9_-]{43}")


class Call:
    """What a route works with."""

    def __init__(self, request: Request, memory: Holdfast, *, key_needed: bool) -> None:
        self.request = request
        self.memory = memory
        self.key_needed = key_needed
        # The key and the hub are looked up by it.
        self._looking = memory.core
        # Noted in every transaction of the request's own writes.
        self.also: Callable[[Writer], None] | None = None

    def look_up_within(self, seconds: float) -> None:
        """Limits how long the store may take to look up the caller and the hub."""
        self._looking = self.memory.core.acting(deadline_s=seconds)

    @cached_property
    def caller(self) -> Caller:
        """The caller; 401 where a key is needed and no valid one was sent."""
        asked = self.request.query_params.multi_items()
        if any(name.lower() in _KEYS_IN_QUERY or _KEY.search(value) for name, value in asked):
            raise Refused(
                400,
                "key_in_query",
                "A key must not stand in the address.",
                hint="Send it as `Authorization: Bearer KEY`, and revoke this one.",
            )
        _require_known(self.request, [name for name, _ in asked])
        kind, _, secret = self.request.headers.get("authorization", "").partition(" ")
        if not secret:
            if self.key_needed:
                raise _unauthorized("A key is needed.")
            return Caller(self.memory, looking=self._looking)
        key = keys.find_key(self._looking, secret.strip()) if kind.lower() == "bearer" else None
        if key is None:
            raise _unauthorized("This key opens nothing.")
        return Caller(self.memory, key, looking=self._looking)

    @property
    def people(self) -> CallersPeople:
        """The operations on people as the caller may use them."""
        return self.caller.people()

    @property
    def hub_name(self) -> str | None:
        return self.request.headers.get(HUB_HEADER) or None

    def hub(self, act: Act = "read", *, lasting: bool = False, soon: bool = False) -> HubMemory:
        """The hub that is meant, if the caller may do this there. What takes as long as it takes,
        an export or a pass that asks a model, is `lasting`; all else has a deadline. What has a
        recall's is `soon`: then a store that is away is not waited for to look things up either,
        as it is before a write."""
        if soon:
            self.look_up_within(self._looking.settings["recall.deadline_s"])
        deadline_s = None if lasting else self.memory.core.settings["server.request_seconds"]
        return self.caller.hub(self.hub_name, act, deadline_s=deadline_s, also=self.also)

    def hub_of_members(self, *, lasting: bool = False) -> HubMemory:
        """The hub that is meant, for its members: for what has no boundary of its own, and so is
        not for those who see only what is shared beyond the hub."""
        hub, standing = self.caller.hub_standing(self.hub_name)
        if standing.role is None:
            raise Forbidden(
                f"You are not a member of the hub `{hub.called}`.",
                hint="Ask an admin of the hub for a role in it.",
            )
        return self.hub(lasting=lasting)


def _require_known(request: Request, names: Sequence[str]) -> None:
    """A filter with a slip in its name would be none at all, and the answer everything."""
    route = request.scope.get("route")
    if not names or not isinstance(route, APIRoute) or not route.include_in_schema:
        return
    known = [name for field in route.dependant.query_params for name in _names_in(field)]
    for name in names:
        if name not in known:
            raise Refused(
                400,
                "invalid_request",
                f"{name[:100]}: There is no such field in this address.",
                hint=f"There are: {', '.join(known)}." if known else "It takes none.",
                details=[{"where": ["query", name[:100]], "what": "unknown"}],
            )


def _names_in(field: Any) -> list[str]:
    """The names that a parameter of a route has in the address; a model has one for each field."""
    kind = field.field_info.annotation
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [info.alias or name for name, info in kind.model_fields.items()]
    return [field.alias]


def _unauthorized(message: str) -> Refused:
    return Refused(
        401,
        "unauthorized",
        message,
        hint="Send it as `Authorization: Bearer KEY`, or keep it with `holdfast login URL`."
        " Whoever runs the server makes one: `holdfast key create NAME`.",
        headers={"WWW-Authenticate": "Bearer"},
    )


async def _call(
    request: Request,
    x_hub_id: Annotated[
        str | None,
        Header(
            alias=HUB_HEADER,
            description="The hub that is meant, by name or id. Left out: the hub in use, or the "
            "only one in reach.",
        ),
    ] = None,
) -> Call:
    state: Any = request.app.state
    return Call(request, state.memory, key_needed=state.key_needed)


Calling = Annotated[Call, Depends(_call)]
