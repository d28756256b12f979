"""What Memax's tools answer, in words. Text from the store is quoted line by line, so that it
cannot pose as words of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.agents.tool import Answer
from holdfast.agents.wording import day, in_brief, origin, quoted
from holdfast.domain.memory import Memory
from holdfast.domain.query import Hit
from holdfast.domain.results import Duplicate, Remembered
from holdfast.domain.review import Decision, decision_of
from holdfast.engine.echo.detect import Heard

# A title on one line; longer ones are those of people who put the text into them.
_TITLE_CHARS = 200
# Past this a list of topics is no overview any more.
_TOPICS_MAX = 100


def named(title: str, memory_id: str) -> str:
    """`{title} (id: {id})`, on one line."""
    return f"{in_brief(title, _TITLE_CHARS)} (id: {memory_id})"


def saved(result: Remembered, *, known: str = "Saved") -> str:
    """`Saved: {title} (id: {id})`; `known` is the word for what was there already."""
    memory = result.memory
    word = known if isinstance(result, Duplicate) else "Saved"
    return f"{word}: {named(memory.title, memory.id)}"


def held_lines(answer: Answer, held: Sequence[Memory]) -> str:
    """An answer with a line for each memory that is held."""
    lines = [
        f"{memory.id} is hidden until a person approves it: it {memory.quarantine}."
        for memory in held
    ]
    return "\n".join([str(answer), *lines])


def came_back(heard: Heard, *, known: str = "Saved") -> str:
    """The answer where all that was said had been handed out by memory itself."""
    if len(heard.memories) != 1 or not heard.memories[0].visible:
        return heard.sentence
    memory = heard.memories[0]
    return f"{known}: {named(memory.title, memory.id)}"


def hit_text(place: int, hit: Hit) -> str:
    """One result of a recall."""
    memory = hit.memory
    facts = [memory.kind, memory.stability, day(memory.occurred_at or memory.created_at)]
    if memory.tags:
        facts.append(f"tags {', '.join(memory.tags)}")
    facts += [origin(memory), f"score {hit.score:.2f}"]
    return f"{place}. {named(memory.title, memory.id)}\n{' · '.join(facts)}\n" + quoted(
        hit.passage.text
    )


def line_of(memory: Memory) -> str:
    """One line of a list."""
    facts = [memory.kind, memory.stability, memory.state, day(memory.updated_at)]
    return f"- {named(memory.title, memory.id)} · {' · '.join(facts)}"


def memory_text(hub: str, memory: Memory) -> str:
    """One memory whole."""
    facts = [
        named(memory.title, memory.id),
        f"hub: {hub}",
        f"kind: {memory.kind}, {memory.stability}, {memory.state}, {memory.boundary}",
        f"category: {memory.category}",
        f"tags: {', '.join(memory.tags)}" if memory.tags else "",
        f"key: {memory.key}" if memory.key else "",
        f"part of: {memory.parent}" if memory.parent else "",
        f"superseded by: {memory.superseded_by}" if memory.superseded_by else "",
        f"source: {origin(memory).removeprefix('from ')}",
        f"version {memory.version}, created {day(memory.created_at)},"
        f" updated {day(memory.updated_at)}, access count {memory.access_count}",
    ]
    asked = decision_of(memory)
    if asked is not None:
        facts += decision_lines(asked)
    return "\n".join([*(fact for fact in facts if fact), "", quoted(memory.content)])


def decision_lines(decision: Decision) -> list[str]:
    """How a decision stands."""
    if decision.status == "decided":
        lines = [f"decided: {decision.option}", f"answer: {decision.answer}"]
    else:
        lines = [f"decision: {decision.status}"]
        lines += [f"option {at}: {option}" for at, option in enumerate(decision.options, 1)]
    return [*lines, f"why: {in_brief(decision.note, 1_000)}"] if decision.note else lines


def topics_text(counts: Mapping[str, int]) -> str:
    """Topics, the largest first, and among equals by name."""
    if not counts:
        return "No topics yet."
    order = sorted(counts, key=lambda topic: (-counts[topic], topic))
    lines = [f"- {topic}: {counts[topic]}" for topic in order[:_TOPICS_MAX]]
    if len(order) > _TOPICS_MAX:
        lines.append(f"{len(order) - _TOPICS_MAX} smaller ones are not listed.")
    return "\n".join(lines)
