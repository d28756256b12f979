"""Holdfast in LangChain: the history of a chat, and a retriever that recalls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.adapters.hubs import Message, MessageHistory, needed, plain_hub

with needed("langchain-core", extra="langgraph"):
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
    from langchain_core.retrievers import BaseRetriever

if TYPE_CHECKING:
    from holdfast.api.asynchronous import AsyncHub
    from holdfast.api.hub import HubMemory
    from holdfast.domain.query import Hit


class HoldfastChatMessageHistory(BaseChatMessageHistory):
    """The messages of one conversation in a hub, for `RunnableWithMessageHistory` and others."""

    def __init__(self, hub: HubMemory | AsyncHub, session_id: str) -> None:
        self.session_id = session_id
        self._history = MessageHistory(hub, session_id)

    @property
    def messages(self) -> list[BaseMessage]:
        """All messages, oldest first."""
        return list(messages_from_dict(self._history.values()))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Appends messages."""
        self._history.add(
            [Message(one.type, _text_of(one), message_to_dict(one)) for one in messages]
        )

    def clear(self) -> None:
        """Removes all messages; the hub's `undo` brings them back."""
        self._history.clear()


def _text_of(message: BaseMessage) -> str:
    # A method in old versions of LangChain, a text with the same call in new ones.
    text = message.text
    found = str(text() if callable(text) and not isinstance(text, str) else text)
    calls = getattr(message, "tool_calls", None) or ()
    return "\n".join([found, *(f"{call['name']} {call['args']}" for call in calls)]).strip()


class HoldfastRetriever(BaseRetriever):
    """Documents from what a hub recalls. `k` is how many at most; `options` are further arguments
    of `recall`, such as `where`, `category` or `layer`."""

    hub: Any
    k: int = 5
    options: dict[str, Any] = {}  # noqa: RUF012 - a field of the model, copied for each instance

    def _get_relevant_documents(self, query: str, *, run_manager: Any = None) -> list[Document]:
        options = {"plain": True, **self.options}
        return [
            _document(hit) for hit in plain_hub(self.hub).recall(query, limit=self.k, **options)
        ]


def _document(hit: Hit) -> Document:
    memory = hit.memory
    return Document(
        id=memory.id,
        page_content=memory.content,
        metadata={
            **memory.metadata,
            "title": memory.title,
            "category": memory.category,
            "created_at": memory.created_at.isoformat(),
            "probability": hit.probability,
        },
    )
