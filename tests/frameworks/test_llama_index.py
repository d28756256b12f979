"""The memory block and the chat store of LlamaIndex."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer, Memory

from holdfast import Holdfast
from holdfast.adapters.llama_index import HoldfastChatStore, HoldfastMemoryBlock
from tests.frameworks.pages import wrong_on_page


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def assistant(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


def test_a_chat_store_keeps_messages_as_they_were_and_conversations_apart(
    memory: Holdfast,
) -> None:
    store = HoldfastChatStore(hub=memory.hub())
    parts = ChatMessage(
        role=MessageRole.ASSISTANT,
        blocks=[TextBlock(text="One."), TextBlock(text="Two.")],
        additional_kwargs={"tool_calls": [{"id": "c"}]},
    )
    store.set_messages("a", [user("Hello"), user("Hello"), parts])
    store.add_message("b", user("Another"))
    again = HoldfastChatStore(hub=memory.hub())
    assert again.get_messages("a") == [user("Hello"), user("Hello"), parts]
    assert sorted(again.get_keys()) == ["a", "b"]
    assert store.delete_message("a", 0) == user("Hello")
    assert store.delete_message("a", 7) is None
    assert store.delete_last_message("a") == parts
    assert store.get_messages("a") == [user("Hello")]
    store.set_messages("a", [user("New")])
    assert store.get_messages("a") == [user("New")]
    assert store.delete_messages("a") == [user("New")]
    assert store.delete_messages("a") is None
    assert store.delete_last_message("a") is None
    assert store.get_keys() == ["b"]


def test_the_async_methods_of_the_chat_store_do_the_same(memory: Holdfast) -> None:
    async def steps() -> None:
        store = HoldfastChatStore(hub=memory.hub())
        await store.async_add_message("a", user("Hello"))
        assert await store.aget_messages("a") == [user("Hello")]
        assert await store.aget_keys() == ["a"]

    asyncio.run(steps())


def test_a_buffer_of_llama_index_uses_the_chat_store(memory: Holdfast) -> None:
    def buffer() -> ChatMemoryBuffer:
        store = HoldfastChatStore(hub=memory.hub())
        return ChatMemoryBuffer.from_defaults(
            token_limit=3_000, llm=MockLLM(), chat_store=store, chat_store_key="alice"
        )

    buffer().put(user("My dog is Rex"))
    buffer().put(assistant("Noted"))
    assert [one.content for one in buffer().get()] == ["My dog is Rex", "Noted"]


def test_what_leaves_the_short_term_memory_is_recalled_in_another_session(
    memory: Holdfast,
) -> None:
    alice, bob = memory.create_hub("alice"), memory.create_hub("bob")
    alice.remember("Alice is allergic to peanuts")

    def chat_memory(hub: object, session: str) -> Memory:
        return Memory.from_defaults(
            session_id=session,
            token_limit=60,
            chat_history_token_ratio=0.5,
            token_flush_size=20,
            memory_blocks=[HoldfastMemoryBlock(hub=hub)],
            insert_method="system",
        )

    async def steps() -> list[str]:
        first = chat_memory(alice, "one")
        for n in range(8):
            await first.aput(user(f"My locker number {n} is in hall {n * 7}"))
            await first.aput(assistant(f"I have noted locker {n} for you now"))
        out = []
        for hub in (alice, bob):
            other = chat_memory(hub, "two")
            await other.aput(user("May Alice eat peanut butter?"))
            out.append("\n".join(str(one.content) for one in await other.aget()))
        return out

    of_alice, of_bob = asyncio.run(steps())
    assert "allergic to peanuts" in of_alice
    assert "allergic" not in of_bob
    logged = alice.turns(limit=50, session="one")
    assert any("My locker number 0" in turn.content for turn in logged)
    assert any(turn.role == "assistant" for turn in logged)


def test_a_block_that_is_too_large_is_built_smaller_or_left_out(memory: Holdfast) -> None:
    hub = memory.hub()
    for n in range(40):
        hub.remember(f"Fact number {n} is about the colour of house {n}")
    block = HoldfastMemoryBlock(hub=hub)

    async def steps() -> tuple[str, str | None, str | None]:
        whole = await block.aget([])
        return whole, await block.atruncate(whole, 100), await block.atruncate(whole, 100_000)

    whole, smaller, none = asyncio.run(steps())
    assert smaller is not None
    assert 0 < len(smaller) <= len(whole) - 400
    assert none is None


def test_the_examples_of_the_page_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert wrong_on_page("llama-index.md", tmp_path, monkeypatch) == []
