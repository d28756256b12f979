"""Which memories that were put into a prompt are no longer as they were then."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.engine.scope import Scope

# Turns of the log have no versions: a turn is there or it is not.
TURN_VERSION = 0


def outdated(scope: Scope, versions: Mapping[str, int]) -> set[str]:
    """The ids of those memories and turns, by the version that was shown, which have been changed,
    superseded, forgotten, held for review or deleted since."""
    turns = [name for name, version in versions.items() if version == TURN_VERSION]
    with scope.read() as reader:
        memories = reader.memories_by_id(
            scope.hub_id, [one for one in versions if one not in turns]
        )
        known_turns = reader.turns_by_id(scope.hub_id, turns)
    now = scope.now()
    current = {
        one.id
        for one in memories.values()
        if one.version == versions[one.id] and one.visible and one.current(now)
    }
    return set(versions) - current - set(known_turns)
