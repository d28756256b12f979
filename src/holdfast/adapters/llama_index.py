"""Holdfast in LlamaIndex: a memory block for its `Memory`, and a chat store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.adapters.hubs import MESSAGE_KEY, Message, MessageHistory, needed, plain_hub
from holdfast.api.asynchronous import in_thread

with needed("llama-index-core", extra="llama-index"):
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.storage.chat_store.base import BaseChatStore

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory

# Where LlamaIndex notes the session of a message.
_SESSION = "session_id"


class HoldfastMemoryBlock(BaseMemoryBlock[str]):
    """A block for `Memory.from_defaults(memory_blocks=[...])`: what leaves the short-term memory is
    shown to the hub, and what the hub knows about the last message is put into the prompt. `budget`
    is in characters."""

    hub: Any
    name: str = "holdfast"
    budget: int | None = None

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        hub = plain_hub(self.hub)
        question = next((_text(one) for one in reversed(messages or ()) if _is_user(one)), None)
        return str(await in_thread(hub.context, question or None, budget=self.budget))

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await in_thread(_observe, plain_hub(self.hub), list(messages))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """A smaller block: it is built anew, so that the most important part stays."""
        # A token has at least one character, and four on average.
        budget = len(content) - 4 * tokens_to_truncate
        if budget < 200:
            return None
        return str(await in_thread(plain_hub(self.hub).context, None, budget=budget))


def _observe(hub: HubMemory, messages: Sequence[ChatMessage]) -> None:
    """Shows the hub turns: what a user said, with the answer that follows it."""
    said: ChatMessage | None = None
    for message in messages:
        if _is_user(message):
            if said is not None:
                _turn(hub, said, None)
            said = message
        elif said is not None and message.role.value == "assistant" and _text(message):
            _turn(hub, said, message)
            said = None
    if said is not None:
        _turn(hub, said, None)


def _turn(hub: HubMemory, said: ChatMessage, answer: ChatMessage | None) -> None:
    session = said.additional_kwargs.get(_SESSION)
    if answer is None:
        if _text(said):
            hub.log_turn("user", _text(said), session=session, source="llama-index")
    elif _text(said):
        hub.observe_turn(_text(said), _text(answer), session=session, source="llama-index")


def _is_user(message: ChatMessage) -> bool:
    return bool(message.role.value == "user")


def _text(message: ChatMessage) -> str:
    return str(message.content or "")


class HoldfastChatStore(BaseChatStore):
    """A chat store on a hub: each key is a conversation in it."""

    hub: Any

    @classmethod
    def class_name(cls) -> str:
        return "HoldfastChatStore"

    def set_messages(self, key: str, messages: list[ChatMessage]) -> None:
        """Puts messages in the place of all that a conversation has."""
        history = self._history(key)
        history.clear()
        history.add([_stored(message) for message in messages])

    def get_messages(self, key: str) -> list[ChatMessage]:
        return [ChatMessage.model_validate(value) for value in self._history(key).values()]

    def add_message(self, key: str, message: ChatMessage) -> None:
        self._history(key).add([_stored(message)])

    def delete_messages(self, key: str) -> list[ChatMessage] | None:
        found = self.get_messages(key)
        self._history(key).clear()
        return found or None

    def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Takes the message at a place away and returns it."""
        value = self._history(key).take(idx)
        return None if value is None else ChatMessage.model_validate(value)

    def delete_last_message(self, key: str) -> ChatMessage | None:
        value = self._history(key).pop()
        return None if value is None else ChatMessage.model_validate(value)

    def get_keys(self) -> list[str]:
        """The conversations of the hub. Reads all of its memories."""
        found = (
            memory.session
            for memory in plain_hub(self.hub).scan()
            if (memory.key or "").startswith(MESSAGE_KEY) and memory.session
        )
        return list(dict.fromkeys(found))

    def _history(self, key: str) -> MessageHistory:
        return MessageHistory(self.hub, key)


def _stored(message: ChatMessage) -> Message:
    return Message(message.role.value, _text(message), message.model_dump(mode="json"))
