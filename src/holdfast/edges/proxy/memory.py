"""Finds the conversation of a request, and remembers what that conversation was given.

The APIs have no sessions: each request holds the whole conversation, without what the proxy added
to it. So the same text is added at the same place each time: the model sees it once, and the
endpoint finds its cached prompt again. Where a client names no conversation, it is known by its
messages: the longest beginning that was seen before.

All of this is in memory and bounded. After a restart a conversation is a new one, and is given
again what it needs.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.api import prompt_blocks
from holdfast.api.project import hub_here
from holdfast.api.project_hub import is_about_person, observe_reply
from holdfast.api.prompt_blocks import PromptBlock
from holdfast.domain.clock import to_text
from holdfast.edges.hooks.event import bounded, is_of_program
from holdfast.edges.hooks.state_files import opened
from holdfast.edges.proxy.formats import ModelRequest
from holdfast.errors import HoldfastError
from holdfast.text.private import asks_to_forget_last, without_private_sides

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.api.memory import Holdfast
    from holdfast.edges.proxy.answers import ModelAnswer
    from holdfast.edges.proxy.formats import Body, Format


# Known conversations; the least recently used one is dropped first.
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
    """The proxy's state of one conversation. Use it under its lock."""

    def __init__(self, session: str, hub: str) -> None:
        self.session = session
        self.hub = hub
        self.lock = threading.Lock()
        self.standing: PromptBlock | None = None
        # By the mark of the message that each one precedes.
        self.blocks: OrderedDict[str, PromptBlock] = OrderedDict()
        self.logged: OrderedDict[str, None] = OrderedDict()
        # The mark of the message that the person sent last, and its words.
        self.last_turn = self.last_prompt = ""
        self.answered_at: float | None = None

    def add_block(self, mark: str, block: PromptBlock) -> None:
        self.blocks[mark] = block
        while len(self.blocks) > _BLOCKS_MAX:
            self.blocks.popitem(last=False)

    def add_logged(self, name: str) -> None:
        self.logged[name] = None
        while len(self.logged) > _LOGGED_MAX:
            self.logged.popitem(last=False)


class FoundConversation(NamedTuple):
    """The conversation of a request to the proxy, and the mark of each of its messages."""

    conversation: Conversation
    marks: tuple[str, ...]


class Conversations:
    """All conversations that the proxy knows. Several threads use it."""

    def __init__(
        self, new_id: Callable[[], str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._new_id = new_id
        self._clock = clock
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str], Conversation] = OrderedDict()
        # The session of a beginning, or of a response that can be continued.
        self._sessions: OrderedDict[str, str] = OrderedDict()

    def find(self, asked: ModelRequest, hub: str, named: str = "") -> FoundConversation:
        """The conversation of a request; a new one if it is not known. `named` is its name in a
        header."""
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
        return FoundConversation(conversation, marks)

    def can_be_continued(self, found: FoundConversation, response_id: str) -> None:
        """Records the id of a response, by which a later request may continue it."""
        conversation = found.conversation
        with self._lock:
            self._mark(_response_mark(conversation.hub, response_id), conversation.session)

    def answered(self, found: FoundConversation, text: str) -> None:
        """Records how the conversation continues, so that the next request is recognised."""
        conversation = found.conversation
        with self._lock:
            conversation.answered_at = self._clock()
            if found.marks and text:
                self._mark(_next_mark(found.marks[-1], "assistant", text), conversation.session)

    def _by_messages(self, asked: ModelRequest, hub: str, marks: tuple[str, ...]) -> str:
        if asked.continues:
            known = self._sessions.get(_response_mark(hub, asked.continues))
            return known or _clean(asked.continues)
        for place in reversed(range(len(marks))):
            session = self._sessions.get(marks[place])
            if session is not None and not (len(marks) == 1 and self._is_over(hub, session)):
                return session
        return self._new_id()

    def _is_over(self, hub: str, session: str) -> bool:
        """Whether a known first message begins another conversation."""
        conversation = self._known.get((hub, session))
        if conversation is None or conversation.answered_at is None:
            return conversation is None
        return self._clock() - conversation.answered_at > _RETRY_S

    def _mark(self, mark: str, session: str) -> None:
        self._sessions[mark] = session
        self._sessions.move_to_end(mark)
        while len(self._sessions) > _MARKS_MAX:
            self._sessions.popitem(last=False)


def marks_of(asked: ModelRequest, hub: str) -> tuple[str, ...]:
    """A mark for each message: a digest of its words and of everything before it. If the endpoint
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


CLIENT = "proxy"
# Of what a tool answered: enough to find it again by.
_TOOL_CHARS_MAX = 8_000
_CALL_CHARS_MAX = 500


class Exchange(NamedTuple):
    """A request to the proxy in progress: the parsed request, its conversation, and the body to
    send; None where nothing was added."""

    hub: HubMemory
    asked: ModelRequest
    found: FoundConversation
    body: bytes | None
    # The turn that a request belongs to which sends only the results of tools, since the endpoint
    # has the person's message.
    continued_turn: str = ""

    @property
    def turn(self) -> str:
        """The name of the turn in its session: the mark of the person's last message."""
        marks = zip(self.asked.said, self.found.marks, strict=True)
        return next((m for one, m in reversed([*marks]) if one.role == "user"), "")


class ProxyMemory:
    """The memory behind a proxy. `hub` is used for requests that name none."""

    def __init__(self, memory: Holdfast, hub: str = "", folder: str = "") -> None:
        self.memory = memory
        self._hub = hub
        self._folder = folder
        day = to_text(memory.core.now())[:10]
        self._conversations = Conversations(lambda: f"proxy-{day}-{secrets.token_hex(4)}")
        self._model_ready = threading.Event()

    @property
    def home(self) -> str:
        return self.memory.home

    def load_model(self) -> None:
        """Loads the embedding model; until then, prompts are matched by words only."""
        embedder = self.memory.core.embedder
        if embedder is not None:
            with suppress(HoldfastError, OSError, ImportError):
                embedder.embed_query("warm")
                self._model_ready.set()

    # A request

    def prepare(
        self, format_: Format, data: bytes, *, hub: str = "", session: str = ""
    ) -> Exchange | None:
        """Reads a request and adds memory to it; None if it is not a valid request."""
        try:
            body = json.loads(data)
        except (ValueError, RecursionError):
            return None
        if not isinstance(body, dict):
            return None
        asked = format_.read(body)
        place, _ = hub_here(self.memory, named=hub or self._hub or None, folder=self._folder)
        found = self._conversations.find(asked, place.name, session)
        exchange = Exchange(place, asked, found, None)
        with found.conversation.lock:
            self._refresh(place, found.conversation)
            if exchange.turn:
                found.conversation.last_turn = exchange.turn
                found.conversation.last_prompt = asked.prompt
            elif asked.is_stateful and asked.tool_results:
                exchange = exchange._replace(continued_turn=found.conversation.last_turn)
            standing, blocks = self._texts(exchange)
        if not standing and not blocks:
            return exchange
        return exchange._replace(body=_encoded(format_.add(body, standing, blocks)))

    def _texts(self, exchange: Exchange) -> tuple[str, dict[int, str]]:
        """The text for the instructions, and the texts before messages, by position."""
        conversation, marks = exchange.found.conversation, exchange.found.marks
        if conversation.standing is None:
            conversation.standing = prompt_blocks.start_block(self.memory, exchange.hub)
            self._note(exchange, conversation.standing, "start")
        said = exchange.asked.said
        turn = exchange.turn
        if turn and turn not in conversation.blocks:
            new = self._block_for(exchange)
            conversation.add_block(turn, new)
            self._note(exchange, new, "prompt")
        blocks = {
            one.place: block.text
            for one, mark in zip(said, marks, strict=True)
            if (block := conversation.blocks.get(mark)) is not None and block.text
        }
        return conversation.standing.text, blocks

    def _block_for(self, exchange: Exchange) -> PromptBlock:
        asked, conversation = exchange.asked, exchange.found.conversation
        session = conversation.session
        prompt = bounded(asked.prompt)
        if is_of_program(prompt):
            return PromptBlock()
        if asks_to_forget_last(prompt):
            return PromptBlock(prompt_blocks.forget_last(self.memory, exchange.hub, session))
        # An endpoint that keeps the conversation also keeps what was added to it.
        seen = conversation.blocks if asked.is_stateful else exchange.found.marks
        shown = [conversation.blocks[mark] for mark in seen if mark in conversation.blocks]
        shown.append(conversation.standing or PromptBlock())
        return prompt_blocks.prompt_block(
            exchange.hub,
            prompt,
            session=session,
            given={line.given_as for block in shown for line in block.lines},
            meaning=self._model_ready.is_set(),
        )

    def _refresh(self, hub: HubMemory, conversation: Conversation) -> None:
        """Removes memories that were forgotten, changed or superseded since they were given."""
        standing = conversation.standing
        if standing is not None and not prompt_blocks.is_current(self.memory, standing):
            conversation.standing = prompt_blocks.start_block(self.memory, hub)
        for mark, block in conversation.blocks.items():
            if not prompt_blocks.is_current(self.memory, block):
                conversation.blocks[mark] = PromptBlock()

    # An answer

    def note_response(self, exchange: Exchange, response_id: str) -> None:
        """To be called before the client can know the id: it may continue the response at once,
        while the turn is still being logged. Takes no time."""
        if response_id:
            self._conversations.can_be_continued(exchange.found, response_id)

    def log(self, exchange: Exchange, answer: ModelAnswer | None) -> None:
        """Logs the person's message, the results of tools, and the model's final answer.
        Each is logged once, however often a client sends it."""
        conversation, asked = exchange.found.conversation, exchange.asked
        with conversation.lock:
            self._log_tools(exchange)
            final = answer.text if answer is not None and answer.final else ""
            prompt = bounded(asked.prompt)
            if is_of_program(prompt):
                prompt = ""
            if exchange.turn and not asks_to_forget_last(prompt):
                self._log_turn(exchange, exchange.turn, prompt, bounded(final))
            elif exchange.continued_turn in conversation.logged:
                prompt = bounded(conversation.last_prompt)
                self._log_turn(exchange, exchange.continued_turn, prompt, bounded(final))
        if answer is not None:
            self._conversations.answered(exchange.found, answer.text)

    def _log_turn(self, exchange: Exchange, turn: str, prompt: str, final: str) -> None:
        conversation = exchange.found.conversation
        known = turn in conversation.logged
        if known and not final:
            return
        given: dict[str, Any] = {"session": conversation.session, "source": CLIENT, "turn": turn}
        given["folder"] = self._folder or None
        # Of a prompt that was logged before, the answer may repeat what is private.
        shown = without_private_sides(prompt, final)[1]
        if known:
            about = is_about_person(exchange.hub, prompt)
            # Of an answer alone nothing is noted.
            observe_reply(exchange.hub, shown, is_personal=about, noted="", **given)
        else:
            exchange.hub.observe_turn(prompt, shown, noted=None if prompt else "", **given)
        conversation.add_logged(turn)
        with opened(self.home, CLIENT, conversation.session) as state:
            state.body["turns"] += 0 if known else 1
            if final:
                state.add_event("stop", to_text(self.memory.core.now()), 0)

    def _log_tools(self, exchange: Exchange) -> None:
        conversation = exchange.found.conversation
        for result in exchange.asked.tool_results:
            name = f"tool-{result.id}"
            if not result.id or not result.text or name in conversation.logged:
                continue
            call = f"{result.call[:_CALL_CHARS_MAX]}\n" if result.call else ""
            exchange.hub.observe_turn(
                f"{call}{result.text[:_TOOL_CHARS_MAX]}",
                "",
                session=conversation.session,
                source=CLIENT,
                turn=name,
                # Nothing is noted of a tool's words.
                trust="tool",
                folder=self._folder or None,
            )
            conversation.add_logged(name)

    # What a session was given

    def _note(self, exchange: Exchange, block: PromptBlock, event: str) -> None:
        """Records what was given in the session's file, for `holdfast session` and the web page."""
        session, hub = exchange.found.conversation.session, exchange.hub
        at = to_text(self.memory.core.now())
        with opened(self.home, CLIENT, session) as state:
            state.body["started_at"] = state.body["started_at"] or at
            state.body["folder"], state.body["hub"] = self._folder, hub.name
            for line in block.lines:
                state.add_injected(line, event, at)
            state.add_event(event, at, len(block.text))


def _encoded(body: Body) -> bytes:
    # In ASCII, so that half of a pair of surrogates can be sent on as it came.
    return json.dumps(body, separators=(",", ":")).encode("ascii")
