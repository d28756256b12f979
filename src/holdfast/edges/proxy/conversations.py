"""Which conversation a request belongs to, and what that conversation was given.

The APIs have no sessions: each request holds the whole conversation, without what the proxy added
to it. So the same text is added at the same place each time: the model sees it once, and the
endpoint finds its cached prompt again. Where a client names no conversation, it is known by its
messages: the longest beginning that was seen before.

All of this is in memory and bounded. After a restart a conversation is a new one, and is given
again what it needs.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

from holdfast.edges.hooks.inject import Block
from holdfast.edges.proxy.formats import Asked

# Conversations that are known; the one that was used longest ago goes first.
_CONVERSATIONS_MAX = 1_000
# Messages of one conversation that have a block, and names of what it has logged.
_BLOCKS_MAX = 300
_LOGGED_MAX = 2_000
# Beginnings of conversations, and ids of responses: a hundred bytes each.
_MARKS_MAX = 50_000
# A first message that comes again within this time is a retry; later it begins another
# conversation with the same words.
_RETRY_S = 60.0
_SESSION_CHARS_MAX = 200


class Conversation:
    """What is known of one conversation. Use it under its lock."""

    def __init__(self, session: str, hub: str) -> None:
        self.session = session
        self.hub = hub
        self.lock = threading.Lock()
        self.standing: Block | None = None
        # By the mark of the message that each one precedes.
        self.blocks: OrderedDict[str, Block] = OrderedDict()
        self.logged: OrderedDict[str, None] = OrderedDict()
        # The mark of the message that the person sent last.
        self.last_turn = ""
        self.answered_at: float | None = None

    def add_block(self, mark: str, block: Block) -> None:
        self.blocks[mark] = block
        while len(self.blocks) > _BLOCKS_MAX:
            self.blocks.popitem(last=False)

    def add_logged(self, name: str) -> None:
        self.logged[name] = None
        while len(self.logged) > _LOGGED_MAX:
            self.logged.popitem(last=False)


class Found(NamedTuple):
    """The conversation of a request, and the mark of each of its messages."""

    conversation: Conversation
    marks: tuple[str, ...]


class Conversations:
    """All that are known. Several threads use it."""

    def __init__(
        self, new_id: Callable[[], str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._new_id = new_id
        self._clock = clock
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str], Conversation] = OrderedDict()
        # The session of a beginning, or of a response that can be continued.
        self._sessions: OrderedDict[str, str] = OrderedDict()

    def find(self, asked: Asked, hub: str, named: str = "") -> Found:
        """The conversation, a new one where it is not known. `named` is its name in a header."""
        marks = marks_of(asked, hub)
        with self._lock:
            session = _clean(named or asked.session) or self._by_messages(asked, hub, marks)
            conversation = self._known.get((hub, session))
            if conversation is None:
                conversation = self._known[hub, session] = Conversation(session, hub)
            self._known.move_to_end((hub, session))
            while len(self._known) > _CONVERSATIONS_MAX:
                self._known.popitem(last=False)
            if marks:
                self._mark(marks[-1], session)
        return Found(conversation, marks)

    def can_be_continued(self, found: Found, response_id: str) -> None:
        """Notes the id of a response, by which a later request may continue it."""
        conversation = found.conversation
        with self._lock:
            self._mark(_response_mark(conversation.hub, response_id), conversation.session)

    def answered(self, found: Found, text: str) -> None:
        """Notes how the conversation goes on, so that the next request is known by it."""
        conversation = found.conversation
        with self._lock:
            conversation.answered_at = self._clock()
            if found.marks and text:
                self._mark(_next_mark(found.marks[-1], "assistant", text), conversation.session)

    def _by_messages(self, asked: Asked, hub: str, marks: tuple[str, ...]) -> str:
        if asked.continues:
            known = self._sessions.get(_response_mark(hub, asked.continues))
            return known or _clean(asked.continues)
        for place in reversed(range(len(marks))):
            session = self._sessions.get(marks[place])
            if session is not None and not (len(marks) == 1 and self._is_over(hub, session)):
                return session
        return self._new_id()

    def _is_over(self, hub: str, session: str) -> bool:
        """Whether a first message that is known begins another conversation."""
        conversation = self._known.get((hub, session))
        if conversation is None or conversation.answered_at is None:
            return conversation is None
        return self._clock() - conversation.answered_at > _RETRY_S

    def _mark(self, mark: str, session: str) -> None:
        self._sessions[mark] = session
        self._sessions.move_to_end(mark)
        while len(self._sessions) > _MARKS_MAX:
            self._sessions.popitem(last=False)


def marks_of(asked: Asked, hub: str) -> tuple[str, ...]:
    """A mark for each message: of its words, and of all that was said before. Where the endpoint
    holds what was said before, the id of the continued response is used instead."""
    mark = _digest(hub, asked.person, asked.continues)
    marks = []
    for one in asked.said:
        mark = _next_mark(mark, one.role, one.text)
        marks.append(mark)
    return tuple(marks)


def _next_mark(mark: str, role: str, text: str) -> str:
    # Clients trim and wrap what they send back.
    return _digest(mark, role, " ".join(text.split()))


def _response_mark(hub: str, response_id: str) -> str:
    return _digest("response", hub, response_id)


def _digest(*parts: str) -> str:
    data = "\0".join(parts).encode("utf-8", "surrogatepass")
    return sha256(data).hexdigest()[:32]


def _clean(name: str) -> str:
    printable = "".join(sign for sign in name if sign.isprintable())
    return printable.strip()[:_SESSION_CHARS_MAX]
