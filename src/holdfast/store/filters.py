"""Translates a Filter and its conditions to SQL, for both SQL stores: the same tests as
`Filter.admits` and `holds` in `domain.query`, on the table alias `m` of memories, or `t` of turns.
Each store defines how values are bound, and the syntax that differs in its database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from holdfast.domain.clock import to_micros
from holdfast.domain.query import FIELDS, Comparison, Condition, Filter, Order, ascii_lower

if TYPE_CHECKING:
    pass

HAPPENED = "coalesce(m.occurred_at, m.created_at)"

# The column a list is sorted by, and whether it is descending; the number breaks ties.
ORDERINGS: dict[Order, tuple[str, bool]] = {
    "newest": ("m.number", True),
    "oldest": ("m.number", False),
    "number": ("m.number", False),
    "updated": ("m.updated_at", True),
    "accessed": ("coalesce(m.accessed_at, 0)", True),
    "happened": (HAPPENED, True),
}

_SIGNS = {"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
# Each list of a filter and its column.
_LISTS = (
    ("states", "state"),
    ("categories", "category"),
    ("kinds", "kind"),
    ("stabilities", "stability"),
    ("layers", "layer"),
    ("sources", "source"),
    ("trusts", "trust"),
)
_TURN_MOMENTS = (("since", "t.at >= {0}"), ("until", "t.at < {0}"), ("known_by", "t.at <= {0}"))


class FilterSql(ABC):
    """One statement's conditions; values are bound in the order in which the text needs them."""

    HELD: ClassVar[str] = "m.quarantine <> ''"
    HAS_TAGS: ClassVar[str]
    # The function for the position of a text in another, from 1.
    POSITION: ClassVar[str]
    LOWER: ClassVar[str]
    MOMENTS: ClassVar[tuple[tuple[str, str], ...]] = (
        ("since", f"{HAPPENED} >= {{0}}"),
        ("until", f"{HAPPENED} < {{0}}"),
        ("known_by", "m.created_at <= {0}"),
        ("alive_at", "(m.expires_at IS NULL OR m.expires_at > {0})"),
        (
            "holds_at",
            "m.superseded_by IS NULL AND (m.valid_until IS NULL OR m.valid_until > {0})",
        ),
    )

    @abstractmethod
    def bind(self, value: Any, name: str = "") -> str:
        """The placeholder of a value; a name is given if a filter has one such value."""

    @abstractmethod
    def constant(self, value: Any) -> str:
        """The placeholder of the value of a condition, with its type."""

    @abstractmethod
    def among(self, column: str, allowed: Sequence[str], name: str) -> str: ...

    @abstractmethod
    def tagged(self, tags: Sequence[Any]) -> str: ...

    @abstractmethod
    def equals(self, column: str, value: str, name: str) -> str:
        """An equality test of a long text, which a store may index by a hash."""

    @abstractmethod
    def came_from(self, source: str) -> str: ...

    @abstractmethod
    def pinned(self, wanted: bool) -> str: ...

    @abstractmethod
    def on_metadata(self, test: Comparison) -> str: ...

    def where(self, wanted: Filter) -> str:
        """The conditions on memories: empty, or beginning with ' AND '."""
        parts = [
            self.among(f"m.{column}", allowed, field)
            for field, column in _LISTS
            if (allowed := getattr(wanted, field))
        ]
        if wanted.tags:
            parts.append(self.tagged(wanted.tags))
        if wanted.key is not None:
            parts.append(self.equals("m.key", wanted.key, "key"))
        if wanted.came_from is not None:
            parts.append(self.came_from(wanted.came_from))
        if wanted.session is not None:
            parts.append(self.equals("m.session", wanted.session, "session"))
        if wanted.pinned is not None:
            parts.append(self.pinned(wanted.pinned))
        if wanted.forgotten is not None:
            parts.append(f"m.forgotten_at IS {'NOT ' if wanted.forgotten else ''}NULL")
        if wanted.quarantined is not None:
            parts.append(self.HELD if wanted.quarantined else "m.quarantine = ''")
        parts += self._moments(wanted, self.MOMENTS)
        if wanted.where is not None:
            parts.append(self.condition(wanted.where))
        return "".join(f" AND {part}" for part in parts)

    def where_turns(self, wanted: Filter) -> str | None:
        """The conditions on turns; None if no turn can match."""
        if not wanted.turns or not wanted.admits_turns():
            return None
        parts = []
        if wanted.session is not None:
            parts.append(self.equals("t.session", wanted.session, "session"))
        if wanted.came_from is not None:
            parts.append(f"t.source = {self.bind(wanted.came_from, 'came_from')}")
        parts += self._moments(wanted, _TURN_MOMENTS)
        if wanted.trusts:
            parts.append(self.among("t.trust", wanted.trusts, "trusts"))
        return "".join(f" AND {part}" for part in parts)

    def _moments(self, wanted: Filter, moments: Sequence[tuple[str, str]]) -> list[str]:
        return [
            test.format(self.bind(to_micros(moment), field))
            for field, test in moments
            if (moment := getattr(wanted, field)) is not None
        ]

    def condition(self, condition: Condition) -> str:
        if isinstance(condition, Comparison):
            test = self._on_field if condition.field else self.on_metadata
            return f"(({test(condition)}) IS TRUE)"
        joined = (" AND " if condition.kind == "and" else " OR ").join(
            [self.condition(part) for part in condition.parts]
        )
        return f"{'NOT ' if condition.kind == 'not' else ''}({joined})"

    def _on_field(self, test: Comparison) -> str:
        assert test.field in FIELDS  # it is written into the statement
        column = f"m.{test.field}"
        if test.field == "tags":
            if test.operator == "exists":
                return self.HAS_TAGS
            return self.tagged([test.value])
        if test.operator == "exists":
            return f"{column} IS NOT NULL"
        return any_of([self.compared(column, one, one.value) for one in each_equal(test)])

    def compared(self, column: str, test: Comparison, value: Any) -> str:
        match test.operator:
            case "contains":
                return f"{self.POSITION}({column}, {self.constant(value)}) > 0"
            case "icontains":
                lower = self.LOWER.format(column)
                return f"{self.POSITION}({lower}, {self.constant(ascii_lower(str(value)))}) > 0"
            case operator:
                return f"{column} {_SIGNS[operator]} {self.constant(value)}"


def each_equal(test: Comparison) -> list[Comparison]:
    """The test itself, or one equality test for each of several values."""
    if test.operator != "in":
        return [test]
    assert isinstance(test.value, tuple)
    return [test._replace(operator="eq", value=one) for one in test.value]


def any_of(parts: Sequence[str]) -> str:
    return " OR ".join(parts) or "false"
