"""The map of memories, and the activity of a hub."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.domain.hub import Viewer
from holdfast.testing import HashEmbedder

TOPICS = {
    "sea": ("tide", "wave", "harbour", "buoy", "sailor"),
    "bread": ("flour", "oven", "crust", "yeast", "baker"),
    "code": ("compiler", "branch", "commit", "deploy", "linter"),
}


class StepClock:
    def __init__(self) -> None:
        self.at = datetime(2026, 5, 1, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


def told(topic: str, number: int) -> str:
    words = TOPICS[topic]
    return " ".join(words[(number + shift) % 5] for shift in (0, 1, 3)) + f" {number}"


def filled(folder: Path, each: int = 20, **options: Any) -> holdfast.Holdfast:
    settings = {"embed.background": False, **options.pop("settings", {})}
    memory = holdfast.open(folder, settings=settings, **options)
    hub = memory.hub()
    hub.remember_many([told(topic, number) for number in range(each) for topic in TOPICS])
    return memory


@pytest.mark.parametrize("by", ["meaning", "words"])
def test_what_is_alike_is_near_on_the_map(tmp_path: Path, by: str) -> None:
    options: dict[str, Any] = {"settings": {"embed.model": "none"}}
    if by == "meaning":
        options = {"embedder": HashEmbedder()}
    with filled(tmp_path, **options) as memory:
        hub = memory.hub()
        made = hub.meaning_map()
        assert (made.by, made.total, len(made.points)) == (by, 60, 60)
        assert all(0 <= one.x <= 1 and 0 <= one.y <= 1 for one in made.points)
        topics = {one.number: list(TOPICS)[(one.number - 1) % 3] for one in made.points}
        mixed = 0
        for group in range(len(made.groups)):
            own = Counter(topics[one.number] for one in made.points if one.group == group)
            mixed += own.total() - max(own.values(), default=0)
        assert mixed <= 6
        words = {word for words in TOPICS.values() for word in words}
        assert any(set(group.name.split(", ")) & words for group in made.groups)
        # The same memories give the same map.
        assert hub.meaning_map() == made


def test_a_large_hub_is_sampled_evenly(tmp_path: Path) -> None:
    with filled(tmp_path, settings={"embed.model": "none"}) as memory:
        made = memory.hub().meaning_map(limit=20)
        numbers = [one.number for one in made.points]
        assert made.total == 60
        assert len(numbers) == 20
        assert max(numbers) - min(numbers) > 50


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_hub_with_hardly_anything_has_a_map(tmp_path: Path, count: int) -> None:
    with holdfast.open(tmp_path, settings={"embed.model": "none"}) as memory:
        hub = memory.hub()
        for number in range(count):
            hub.remember(f"Memory number {number} of a few")
        assert len(hub.meaning_map().points) == count


def test_the_map_and_its_cache_hold_what_the_viewer_sees(tmp_path: Path) -> None:
    with filled(tmp_path, each=5, settings={"embed.model": "none"}) as memory:
        hub = memory.hub()
        hub.remember("A secret zeppelin of the owner", boundary="private")
        hub.remember("Another secret zeppelin of the owner", boundary="private")
        assert len(hub.meaning_map().points) == 17
        core = memory.core.acting("vera", viewer=Viewer("vera", ("hub",)))
        seen = type(hub)(core, hub.info, hub.home).meaning_map()
        assert len(seen.points) == 15
        assert not any("zeppelin" in group.name for group in seen.groups)


def test_what_was_purged_is_in_no_name(tmp_path: Path) -> None:
    with holdfast.open(tmp_path, settings={"embed.model": "none"}) as memory:
        hub = memory.hub()
        for number in range(6):
            hub.remember(f"zeppelin airship hangar {number}")
        hub.remember_many([told("sea", number) for number in range(6)])
        assert any("zeppelin" in group.name for group in hub.meaning_map().groups)
        hub.purge_many([1, 2, 3, 4, 5, 6])
        assert not any("zeppelin" in group.name for group in hub.meaning_map().groups)


def test_activity_is_counted_by_day(tmp_path: Path) -> None:
    clock = StepClock()
    settings = {"embed.model": "none"}
    with holdfast.open(tmp_path, clock=clock, settings=settings) as memory:
        hub = memory.hub()
        for day in (0, 1, 1, 400):
            clock.at = datetime(2026, 5, 1, 12, tzinfo=UTC) + timedelta(days=day)
            hub.remember(f"Told on day {day} at {clock.at} {len(hub.list())}")
        hub.forget(1)
        told = hub.activity()
        assert [(one.day.isoformat(), dict(one.counts)) for one in told.days] == [
            ("2027-06-05", {"forget": 1, "remember": 1})
        ]
        assert [one.made for one in told.growth] == [1, 2, 3, 4]
        with pytest.raises(holdfast.InvalidInput):
            hub.activity(days=9_999)
