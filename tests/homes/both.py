"""Which tests run on SQLite and on PostgreSQL where nothing else is asked for, and how thoroughly.

All of them run on PostgreSQL with `make test-postgres`. These are the ones that go through most of
the product for the least time: of every dialect, of the main commands, routes and calls of the
client a quarter of the tests, always the same ones; and every property test of a home, with fewer
examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import settings

_TESTS = Path(__file__).parents[1]
BOTH: tuple[str, ...] = (
    "property/test_attachments_properties.py",
    "property/test_consolidate_properties.py",
    "property/test_context_properties.py",
    "property/test_documents_stateful.py",
    "property/test_echo_properties.py",
    "property/test_filing_properties.py",
    "property/test_journal_stateful.py",
    "property/test_mirror_stateful.py",
    "property/test_ours.py",
    "property/test_rewrite_properties.py",
    "property/test_superseding_properties.py",
    "property/test_turns_noted_once.py",
    "unit/agents/test_anthropic_dialect.py",
    "unit/agents/test_dialects.py",
    "unit/agents/test_maven.py",
    "unit/agents/test_max.py",
    "unit/agents/test_memax.py",
    "unit/agents/test_minion.py",
    "unit/agents/test_pynchy.py",
    "unit/engine/test_history.py",
    "unit/engine/test_recall.py",
    "unit/files/test_memory_md.py",
    "edges/cli/test_cli_care.py",
    "edges/cli/test_cli_history.py",
    "edges/cli/test_cli_hubs.py",
    "edges/cli/test_cli_journal.py",
    "edges/cli/test_cli_read.py",
    "edges/cli/test_cli_review.py",
    "edges/cli/test_cli_transfer.py",
    "edges/cli/test_cli_write.py",
    "edges/client/test_client_same_as_library.py",
    "edges/http/test_events.py",
    "edges/http/test_hubs_and_keys.py",
    "edges/http/test_memories.py",
    "edges/http/test_once.py",
    "edges/mcp/test_mcp_tools.py",
)
# These go through every store by themselves.
ALREADY = (
    "edges/test_same_on_both_stores.py",
    "property/test_engine_properties.py",
    "property/test_search_text_properties.py",
)
# What is said by every example is said by a part of them; the rest is for `make test-postgres`.
_PART_OF_EXAMPLES = 4
_EXAMPLES_MIN = 5
# Of the other tests, one in so many: what a store does wrong, it seldom does wrong in one alone.
_ONE_TEST_IN = 4


def runs_on_both(path: Path, chosen: str | None) -> bool:
    if chosen in ("sqlite", "postgres") or not path.is_relative_to(_TESTS):
        return False
    name = path.relative_to(_TESTS).as_posix()
    if name in ALREADY:
        return False
    return chosen == "both" or any(name.startswith(front) for front in BOTH)


@contextmanager
def fewer_examples(item: Any) -> Iterator[None]:
    """A part of the examples that a property test would try."""
    with pytest.MonkeyPatch.context() as patched:
        for place, name, given in _settings_of(item):
            count = max(_EXAMPLES_MIN, given.max_examples // _PART_OF_EXAMPLES)
            patched.setattr(place, name, settings(given, max_examples=count))
        yield


# Without chance, a test tries the same examples in every run, so more of them show something new
# only once.
_EXAMPLES_EACH_TIME = 2
_FEW_EXAMPLES = 30


def first_examples(items: list[Any]) -> None:
    """Half of the examples that a test with many of them says; the rest is for who searches."""
    seen: set[int] = set()
    for item in items:
        for place, name, given in _settings_of(item):
            # Tests with parameters, and those of a kit for several stores, share their function.
            if id(place) not in seen and given.max_examples > _FEW_EXAMPLES:
                count = max(_FEW_EXAMPLES, given.max_examples // _EXAMPLES_EACH_TIME)
                setattr(place, name, settings(given, max_examples=count))
            seen.add(id(place))


def search_on(item: Any) -> None:
    """As many examples as the profile says, where a test says fewer, and never the same."""
    for place, name, given in _settings_of(item):
        count = max(given.max_examples, settings().max_examples)
        setattr(place, name, settings(given, max_examples=count, derandomize=False))


def _settings_of(item: Any) -> Iterator[tuple[Any, str, settings]]:
    """Where a test has its settings of hypothesis, and what they are."""
    for place, name in (
        (getattr(item, "function", None), "_hypothesis_internal_use_settings"),
        (getattr(item, "cls", None), "settings"),
    ):
        given = getattr(place, name, None)
        if isinstance(given, settings):
            yield place, name, given


# The conformance kit on one server in the place of a Citus cluster: the same statements as on
# PostgreSQL, so some of it is enough.
STANDIN = "TestCitusStandin"


def is_left_out(item: pytest.Item) -> bool:
    """Whether a test on PostgreSQL is left to `make test-postgres`."""
    if item.nodeid.split("::")[1:2] == [STANDIN]:
        return crc32(item.nodeid.encode()) % _ONE_TEST_IN != 0
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    if parameters.get("homes") != "postgres" or {"property", "client"} & {*item.path.parts}:
        return False
    return crc32(item.nodeid.encode()) % _ONE_TEST_IN != 0
