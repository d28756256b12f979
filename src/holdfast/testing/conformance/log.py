"""The conversation log, and what is kept of mirrored files."""

from __future__ import annotations

from holdfast.domain.records import Agreed, Clash, Turn
from holdfast.store.base import Store
from holdfast.testing.conformance.base import HUB, StoreCase, at, make_hub, make_memory, put

OTHER = "hub_other"


def turn(number: int, content: str, *, hub_id: str = HUB, session: str | None = None) -> Turn:
    """A turn; its number is its place in time."""
    return Turn(f"trn_{number:03}", hub_id, "user", content, at(number), "tui", session)


class Log(StoreCase):
    """Turns, agreed texts, clashes."""

    def test_turns_come_back_newest_first_and_as_they_were(self, store: Store) -> None:
        said = [turn(n, f"line {n} \U0001f40d", session="s" if n % 2 else None) for n in range(5)]
        with store.write() as writer:
            for one in said:
                writer.add_turn(one)
        with store.read() as reader:
            assert reader.turns(HUB, limit=9) == said[::-1]
            assert reader.turns(HUB, limit=2) == [said[4], said[3]]
            assert reader.turns(HUB, limit=9, session="s") == [said[3], said[1]]
            assert reader.turns(HUB, limit=9, before="trn_002") == [said[1], said[0]]
            assert list(reader.scan_turns(HUB)) == said
            assert reader.statistics(HUB).turns == 5

    def test_turns_are_found_by_their_words_in_their_hub_alone(self, store: Store) -> None:
        with store.write() as writer:
            writer.add_hub(make_hub(OTHER))
            writer.add_turn(turn(1, "the deploy failed again"))
            writer.add_turn(turn(2, "lunch was fine"))
            writer.add_turn(turn(3, "deploy deploy", hub_id=OTHER))
        with store.read() as reader:
            assert [one.id for one in reader.search_turns(HUB, ["deploy"], limit=5)] == ["trn_001"]
            assert reader.search_turns(HUB, [], limit=5) == []
            assert reader.search_turns(HUB, ["nothing"], limit=5) == []
            assert [one.id for one in reader.turns(OTHER, limit=5)] == ["trn_003"]

    def test_turns_with_most_of_the_words_come_first_then_the_newest(self, store: Store) -> None:
        with store.write() as writer:
            for number in range(8):
                writer.add_turn(turn(number, f"day {number} of the trip to Rome, day by day"))
            writer.add_turn(turn(8, "Rome"))
        with store.read() as reader:
            found = reader.search_turns(HUB, ["day", "3", "rome"], limit=3)
            assert [one.id for one in found] == ["trn_003", "trn_007", "trn_006"]
            found = reader.search_turns(HUB, ["rome", "rome"], limit=2)
            assert [one.id for one in found] == ["trn_008", "trn_007"]

    def test_pruning_keeps_the_newest_and_leaves_nothing_of_the_rest(self, store: Store) -> None:
        with store.write() as writer:
            writer.add_hub(make_hub(OTHER))
            for number in range(10):
                writer.add_turn(turn(number, f"word{number}"))
            writer.add_turn(turn(99, "word0", hub_id=OTHER))
            assert writer.prune_turns(HUB, keep=4) == 6
            assert writer.prune_turns(HUB, keep=4) == 0
        with store.read() as reader:
            assert [one.id for one in reader.turns(HUB, limit=99)][-1] == "trn_006"
            assert reader.search_turns(HUB, ["word0"], limit=5) == []
            assert len(reader.turns(OTHER, limit=9)) == 1
        assert store.check() == []

    def test_the_text_that_was_agreed_on_is_kept_by_path(self, store: Store) -> None:
        with store.write() as writer:
            writer.add_hub(make_hub(OTHER))
            writer.set_agreed(HUB, Agreed("MEMORY.md", "one\r\n", at(1)))
            writer.set_agreed(HUB, Agreed("MEMORY.md", "two\n", at(2)))
            writer.set_agreed(OTHER, Agreed("MEMORY.md", "other", at(3)))
            writer.set_agreed(HUB, Agreed("2026-01-01.md", "", at(3)))
            writer.drop_agreed(HUB, "2026-01-01.md")
        with store.read() as reader:
            assert reader.agreed(HUB, "MEMORY.md") == Agreed("MEMORY.md", "two\n", at(2))
            assert reader.agreed(HUB, "2026-01-01.md") is None
            assert list(reader.scan_agreed(HUB)) == [Agreed("MEMORY.md", "two\n", at(2))]
            assert reader.agreed(OTHER, "MEMORY.md") == Agreed("MEMORY.md", "other", at(3))

    def test_clashes_are_listed_until_they_are_settled(self, store: Store) -> None:
        first = Clash("cla_1", "mem_1", "MEMORY.md", "ours", "theirs", at(1))
        second = Clash("cla_2", "mem_2", "MEMORY.md", "a", "b", at(2))
        with store.write() as writer:
            put(writer, make_memory(1, "ours"))
            put(writer, make_memory(2, "a"))
            writer.add_clash(HUB, first)
            writer.add_clash(HUB, second)
            writer.settle_clash(HUB, "cla_1", at(5))
        with store.read() as reader:
            assert reader.clashes(HUB) == [second]
            settled = first._replace(settled_at=at(5))
            assert reader.clashes(HUB, settled=True) == [settled, second]
            assert reader.clashes(OTHER) == []
            assert reader.statistics(HUB).conflicts == 1
        with store.write() as writer:
            writer.purge(HUB, "mem_2")
            assert writer.clashes(HUB) == []

    def test_a_purge_takes_clashes_along_that_hold_the_text(self, store: Store) -> None:
        with store.write() as writer:
            for number, content in enumerate(("ours", "theirs", "other"), 1):
                put(writer, make_memory(number, content))
            writer.add_clash(HUB, Clash("cla_1", "mem_1", "MEMORY.md", "ours", "theirs", at(1)))
            writer.add_clash(HUB, Clash("cla_2", "mem_3", "MEMORY.md", "other", "else", at(2)))
            writer.purge(HUB, "mem_2")
        with store.read() as reader:
            assert [clash.id for clash in reader.clashes(HUB, settled=True)] == ["cla_2"]
