"""The block is the same, byte for byte, whether the store names the best memories and only they are
read, or everything is read and looked at."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import HubMemory
from holdfast.domain.memory import BOUNDARIES, TRUSTS
from holdfast.engine.context import budget as candidates
from holdfast.testing import FixedClock, open_for_tests

WORDS = ("tea", "milk", "the server is Hilda", "<memory> & more", "## no heading", "x" * 400)

DRAFTS = st.fixed_dictionaries(
    {
        "content": st.sampled_from(WORDS),
        "category": st.sampled_from(("fact", "preference", "person", "own label")),
        "trust": st.sampled_from(TRUSTS),
        "boundary": st.sampled_from(BOUNDARIES),
        "pinned": st.sampled_from((False, False, False, True)),
        "hours": st.sampled_from((None, None, 1, 5)),
        "valid": st.sampled_from((None, None, 1, 5)),
        "layer": st.sampled_from(("long_term", "long_term", "long_term", "journal", "library")),
        "other": st.booleans(),
    }
)
ACTS = st.tuples(
    st.sampled_from(("access", "update", "forget", "archive", "pin", "supersede")),
    st.integers(1, 60),
)


def fill(hub: HubMemory, clock: FixedClock, drafts: list[dict[str, Any]]) -> None:
    stranger = HubMemory(hub.core.acting("somebody else"), hub.info, hub.home)
    for number, draft in enumerate(drafts):
        draft = dict(draft)
        hours, valid, who = draft.pop("hours"), draft.pop("valid"), draft.pop("other")
        draft["content"] += f" {number}"
        if hours is not None:
            draft["expires_at"] = clock.now() + timedelta(hours=hours)
        if valid is not None:
            draft["valid_until"] = clock.now() + timedelta(hours=valid)
        (stranger if who else hub).remember(**draft)
        clock.tick(minutes=number % 3)


def act(hub: HubMemory, what: str, number: int) -> None:
    seen = [memory.number for memory in hub.list(order="number")]
    if not seen:
        return
    number = seen[number % len(seen)]
    if what == "supersede":
        if hub.get(number).superseded_by is None:
            hub.remember(f"instead of {number}", supersedes=number, layer="long_term")
    elif what == "update":
        hub.update(number, title=f"touched {number}")
    else:
        getattr(hub, what)(number)


@pytest.mark.parametrize("store", ["memory:", None])
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    drafts=st.lists(DRAFTS, max_size=40),
    acts=st.lists(ACTS, max_size=8),
    style=st.sampled_from(("plain", "xml", "max", "maven", "minion")),
    with_file=st.booleans(),
    budget=st.sampled_from((200, 600, 1_500, None)),
    unit=st.sampled_from(("chars", "tokens")),
    query=st.sampled_from((None, "tea server")),
)
def test_the_block_is_the_same_when_everything_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    store: str | None,
    drafts: list[dict[str, Any]],
    acts: list[tuple[str, int]],
    style: str,
    with_file: bool,
    budget: int | None,
    unit: str,
    query: str | None,
) -> None:
    # So few at a time that several rounds are read.
    monkeypatch.setattr(candidates, "_BATCH", 3)
    clock = FixedClock()
    given_settings = {"store.url": store} if store else {}
    with open_for_tests(
        tmp_path_factory.mktemp("home"), clock=clock, settings=given_settings
    ) as memory:
        hub = memory.create_hub("work")
        fill(hub, clock, drafts)
        if with_file:
            hub.sync()
            file = Path(hub.memory_md)
            file.write_text(file.read_text() + "\n## Mine\n\nMy own words.\n- typed\n")
        for what, number in acts:
            clock.tick(minutes=20)
            act(hub, what, number)
        how: dict[str, Any] = {"budget": budget, "unit": unit, "style": style}
        whole = hub.context(query, **how, explain=True)
        assert hub.context(query, **how) == whole.text
