"""A scope says which hub an operation is about and who acts; a core is derived for others in one
way, which inherits no rights."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.domain.hub import Act, PersonName
from holdfast.domain.memory import Memory
from holdfast.errors import DeadlineExceeded, Forbidden, NotFound
from holdfast.store.base import Writer
from holdfast.testing import open_for_tests

BOB = PersonName("bob")


def refuse(act: Act, memory: Memory | None) -> None:
    raise Forbidden(f"{act} is not allowed.")


def test_the_scope_of_a_hub_follows_its_name(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        hub = memory.create_hub("work")
        memory.rename_hub("work", "field")
        # The next use of the hub's folder looks its name up.
        assert hub.journal() is not None
        assert (hub.scope.hub_id, hub.scope.hub) == (hub.id, "field")


def test_a_hub_that_was_removed_is_not_found_by_its_scope(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        scope = memory.create_hub("work").scope
        memory.delete_hub("work")
        for begun in (scope.read, scope.write):
            with pytest.raises(NotFound, match="`work` is not there any more"), begun():
                pass


def test_another_actor_owns_what_they_write_and_does_not_see_what_is_private(
    tmp_path: Path,
) -> None:
    with open_for_tests(tmp_path) as memory:
        hub = memory.hub()
        private = hub.remember("My secret plan", boundary="private").memory
        theirs = hub.scope.acting(BOB)
        assert theirs.actor == BOB
        with theirs.read() as reader:
            assert reader.memory(hub.id, private.id) is None
        with theirs.acting(sees_all=True).read() as reader:
            assert reader.memory(hub.id, private.id) is not None


def test_a_derived_core_inherits_the_actor_and_no_limits(tmp_path: Path) -> None:
    noted: list[Writer] = []
    with open_for_tests(tmp_path) as memory:
        hub = memory.hub()
        limited = memory.core.acting(BOB, permit=refuse, deadline_s=0.0, before_commit=noted.append)
        with pytest.raises(Forbidden):
            limited.require("write")
        with pytest.raises(DeadlineExceeded):
            limited.read()
        with limited.write(hub.id):
            pass
        assert len(noted) == 1

        free = limited.acting()
        assert free.actor == BOB
        free.require("write")
        with free.read(), free.write(hub.id):
            pass
        assert len(noted) == 1
