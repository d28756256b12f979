"""The facts of a conversation as drafts of their own: each points to where it was said. Which words
are facts, `text.extract_facts` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.domain.draft import Draft

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.engine.core import Core

# Shorter ones are a greeting, and their words are found as they are.
CHARS_MIN = 100
_CONVERSATIONS = ("chat", "transcript")


def facts_in(core: Core, draft: Draft, memory: Memory) -> list[Draft]:
    """What is said to last in a conversation; nothing of one that waits for review."""
    if memory.content_type not in _CONVERSATIONS or len(memory.content) < CHARS_MIN:
        return []
    if memory.source == "extraction" or memory.quarantine or memory.state == "processing":
        return []
    if not core.settings["extract.facts"]:
        return []
    from holdfast.text.extract_facts import extract_facts

    return [
        Draft(
            fact.text,
            category=fact.category,
            boundary=draft.boundary,
            trust=draft.trust,
            source="extraction",
            source_agent=draft.source_agent,
            assisted_by_agent=draft.assisted_by_agent,
            occurred_at=fact.occurred_at,
            occurred_until=fact.occurred_until,
            valid_from=draft.occurred_at,
            expires_at=draft.expires_at,
            metadata={"said": {"start": fact.start, "end": fact.end}},
        )
        for fact in extract_facts(memory.content, at=draft.occurred_at)
    ]
