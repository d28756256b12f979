"""Which hub belongs to a user or a namespace of another framework."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast
from holdfast import Holdfast, InvalidInput
from holdfast.adapters.hubs import Hubs
from holdfast.text.clean import HUB_NAME_CHARS_MAX, clean_hub_name
from holdfast.text.hub_labels import labels_of, prefix_of

LABELS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=50),
        st.text("aA_.-@1é", min_size=1, max_size=4),
    ),
    min_size=1,
    max_size=6,
).map(tuple)


class NoMemory:
    """For names alone."""


def names(app: str = "agents") -> Hubs:
    return Hubs(NoMemory(), app)  # type: ignore[arg-type]


@given(LABELS)
def test_a_name_is_one_that_a_hub_may_have_and_tells_its_labels(labels: tuple[str, ...]) -> None:
    hubs = names()
    name = hubs.name_of(*labels)
    assert clean_hub_name(name) == name
    assert name == name.lower()
    assert name.isascii()
    assert len(name) <= HUB_NAME_CHARS_MAX
    if not hubs.scope_metadata(*labels):
        assert labels_of(prefix_of("agents"), name) == labels


@given(LABELS, LABELS)
@settings(max_examples=300)
def test_two_scopes_never_share_a_hub(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert (names().name_of(*one) == names().name_of(*other)) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", "b"), ("a.b",)),
        (("a_b",), ("a__b",)),
        (("A",), ("a",)),
        (("a", "b" * 80), ("a", "b" * 81)),
        (("x" * 80, "y"), ("x" * 80, "z")),
        (("a" * 40, "b" * 40), ("a" * 40 + "\0" + "b" * 40,)),
        ((*"abcde", "f", "g" * 60), (*"abcde", "f\0" + "g" * 60)),
    ],
)
def test_labels_that_are_nearly_the_same_have_hubs_of_their_own(
    one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    assert names().name_of(*one) != names().name_of(*other)


@pytest.mark.parametrize("label", ["", None, 3, "\ud800"])
def test_what_cannot_be_a_label_is_refused(label: object) -> None:
    with pytest.raises(InvalidInput):
        names().name_of("user", label)  # type: ignore[arg-type]


def test_an_app_with_a_name_that_is_too_long_is_refused() -> None:
    with pytest.raises(InvalidInput, match="too long"):
        names("x" * 40)
    assert names("x" * 20).name_of("y" * 90)


def test_hubs_are_found_by_their_first_labels_within_the_app(tmp_path: Path) -> None:
    long = ("org", "o" * 60, "user", "u" * 60)
    with holdfast.open(tmp_path, settings={"embed.model": "none"}) as memory:
        hubs = Hubs(memory)
        for labels in (("docs", "alice"), ("docs", "alice", "v1"), ("docsx",), long):
            hubs.make(*labels).remember("x", metadata=hubs.scope_metadata(*labels))
        memory.create_hub("agents.Docs")
        Hubs(memory, "other").make("docs")

        def below(*labels: str) -> set[tuple[str, ...]]:
            return {found for found, _ in hubs.below(*labels)}

        assert below("docs") == {("docs", "alice"), ("docs", "alice", "v1")}
        assert below("docs", "alice") == below("docs")
        assert below(*long[:2]) == {long}
        assert below("org", "another") == set()
        assert below() == {("docs", "alice"), ("docs", "alice", "v1"), ("docsx",), long}
        assert hubs.find("docs") is None


def test_a_user_has_the_same_hub_in_every_framework(tmp_path: Path) -> None:
    from holdfast.adapters.mem0 import Memory

    with holdfast.open(tmp_path, settings={"embed.model": "none"}) as memory:
        Memory(memory=memory).add("Prefers tea", user_id="alice", infer=False)
        assert [one.content for one in Hubs(memory).user("alice").list()] == ["Prefers tea"]
        assert Hubs(memory).user("bob").list() == []


def test_a_closed_memory_says_so(tmp_path: Path) -> None:
    memory: Holdfast = holdfast.open(tmp_path)
    memory.close()
    with pytest.raises(holdfast.StoreClosed):
        Hubs(memory).user("alice")
