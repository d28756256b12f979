"""How much a consolidation does: at most so many promotions, and never more than long-term memory
has room for. Where it is over its cap, what was never used is proposed to leave first. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from holdfast.domain.memory import Memory
from holdfast.passes.consolidate_plan import Refused, Step
from holdfast.passes.consolidate_rules import Material, Proposed, is_settled, retire, touches

# As many as a person reads in a minute. The rest of what lasts will be there at the next run.
PROMOTIONS_MAX = 10
# What was never used for this long may leave, where room is needed: the time after which a memory
# that cools is archived too.
_UNUSED = timedelta(days=60)
# A bullet, its mark and its share of a heading, beside the words themselves.
_LINE_CHARS = 4


def size(memories: Iterable[Memory]) -> int:
    """About how many characters these take in MEMORY.md."""
    return sum(len(memory.content) + _LINE_CHARS for memory in memories)


def bounded(steps: Sequence[Step], material: Material) -> Proposed:
    """The steps that fit: at most so many promotions, and no more than long-term memory has room
    for. Where it is over, what was never used is proposed to leave first."""
    held = {one.number: one for one in material.long_term if one.current(material.now)}
    making = [step for step in steps if step.kind != "promote"]
    wanted = [step for step in steps if step.kind == "promote"]
    used = size(held.values()) - sum(_freed(step, held) for step in making)
    kept: list[Step] = []
    refused: list[Refused] = []
    over = False
    busy = {number for step in steps for number in touches(step)}
    unused = _unused(held, material, busy)
    notes: list[str] = []
    if used > material.chars_max:
        over = True
        used -= _make_room(used - material.chars_max, unused, making)
    for step in wanted:
        cost = len(step.text) + _LINE_CHARS - _freed(step, held)
        if len(kept) == PROMOTIONS_MAX:
            refused.append(Refused(step, f"a run promotes {PROMOTIONS_MAX} at most; the next may"))
            continue
        if used + cost > material.chars_max and cost > 0:
            over = True
            used -= _make_room(used + cost - material.chars_max, unused, making)
        if used + cost > material.chars_max and cost > 0:
            refused.append(Refused(step, "there is no room for it; merge or retire something"))
            continue
        used += cost
        kept.append(step)
    if over:
        notes.append(
            f"Long-term memory has {size(held.values()):,} of {material.chars_max:,} characters:"
            " merges and retirements come first, and what does not fit waits."
        )
    return Proposed([*making, *kept], refused, notes)


def _freed(step: Step, held: Mapping[int, Memory]) -> int:
    """What a step takes out of long-term memory, less what it puts in there."""
    gone = step.sources if step.kind != "promote" else ()
    if step.replaces is not None:
        gone = (step.replaces,)
    made = len(step.text) + _LINE_CHARS if step.kind == "merge" else 0
    return size(held[number] for number in gone if number in held) - made


def _unused(held: Mapping[int, Memory], material: Material, busy: set[int]) -> list[Memory]:
    """What may leave where room is needed, the longest unused last: it is taken from the end."""
    found = [
        memory
        for memory in held.values()
        if not memory.pinned
        and memory.key is None
        and memory.number not in busy
        and memory.access_count == 0
        and memory.mention_count <= 1
        and memory.stability != "stable"
        and material.now - memory.last_use >= _UNUSED
        and not is_settled(retire(memory, ""), material)
    ]
    return sorted(found, key=lambda memory: (memory.last_use, memory.number), reverse=True)


def _make_room(needed: int, unused: list[Memory], making: list[Step]) -> int:
    freed = 0
    while unused and freed < needed:
        memory = unused.pop()
        freed += size([memory])
        days = f"{_UNUSED.days} days"
        making.append(retire(memory, f"room is needed, and it was not used for {days}"))
    return freed
