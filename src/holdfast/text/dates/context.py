"""What the words around a date make of it: 'since', 'before', 'between … and …', 'from … to …'.

Here it is also decided whether a word that could be a date is one: 'in May' is, 'may' is not. What
a single date means is decided in `expressions`.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo

from holdfast.text.dates.expressions import DateExpression, ExpressionReader
from holdfast.text.dates.find import EARLIEST, LATEST, DateMention

# What stands before a date and says how it is meant. 'by' and 'for' are missing on purpose: they
# also stand before April, June and May; 'from' counts only together with a 'to'.
_BEFORE = re.compile(
    r"(?<!\w)(?P<op>since|before|prior to|until|till|up to|after|between|from|starting|in|on|during"
    r"|around)\s(?:the\s)?(?:(?:early|late|mid|middle of|end of|start of|beginning of)[ -])?$",
    re.IGNORECASE,
)
_PART_OF = re.compile(
    r"(?<!\w)(?:(?:start|beginning|middle|end) of|early|late|mid)[ -]$", re.IGNORECASE
)
_RANGE = re.compile(r"\s*(?:-|–|\b(?:to|until|till|through|and)\b)\s*(?:the\s)?", re.IGNORECASE)


# A date stands within the first pages of a text, or there are so many that none is the point.
_MENTIONS_MAX = 200

_DAY = timedelta(days=1)


def read_mentions(text: str, now: datetime, zone: tzinfo, *, bare: bool) -> list[DateMention]:
    """The dates of a text; `bare` trusts those that are plain words without their preposition."""
    return _Reader(text, now, zone).mentions(bare=bare)


class _Reader:
    """One text, one clock and one zone."""

    def __init__(self, text: str, now: datetime, zone: tzinfo) -> None:
        self.text = text
        self.zone = zone
        self.expressions = ExpressionReader(text, now, zone)

    def mentions(self, *, bare: bool) -> list[DateMention]:
        """Read each date with what stands before it and between it and the next."""
        expressions = self.expressions.read()
        found: list[DateMention] = []
        at = 0
        while at < len(expressions) and len(found) < _MENTIONS_MAX:
            expression = expressions[at]
            at += 1
            operator, start = self._operator(expression, found[-1].end if found else 0)
            if at < len(expressions) and (
                ranged := self._range(expression, expressions[at], operator)
            ):
                at += 1
                found.append(self._mention(start, *ranged))
                continue
            if operator in ("between", "from"):
                operator, start = "", expression.start
            if not bare and not self._is_meant(expression, operator):
                continue
            since, until = self._applied(operator, expression.since, expression.until)
            found.append(self._mention(start, expression.end, since, until))
        return found

    def _operator(self, expression: DateExpression, floor: int) -> tuple[str, int]:
        """The word before a date that says how it is meant ('' for none), and where it begins."""
        # 32 characters hold the longest of them.
        lead = self.text[max(floor, expression.start - 32) : expression.start]
        if before := _BEFORE.search(lead):
            return before["op"].lower(), expression.start - len(lead) + before.start()
        if part := _PART_OF.search(lead):
            return "of", expression.start - len(lead) + part.start()
        return "", expression.start

    def _is_meant(self, expression: DateExpression, operator: str) -> bool:
        """Whether a date that is also a plain word, a name or a number is meant as a date."""
        if not expression.wants:
            return True
        if not operator or operator in {"in": ("on",), "on": ("in", "during")}[expression.wants]:
            return False
        return not expression.shy or operator in ("in", "since", "during")

    def _mention(self, start: int, end: int, since: datetime, until: datetime) -> DateMention:
        return DateMention(start, end, since, until, self.text[start:end])

    def _applied(
        self, operator: str, since: datetime, until: datetime
    ) -> tuple[datetime, datetime]:
        """The window that 'since', 'before', 'until' or 'after' make of a date."""
        tonight = self.expressions.moment(self.expressions.today + _DAY)
        if operator in ("since", "starting"):
            return since, tonight if tonight > since else LATEST
        if operator == "after":
            return until, tonight if tonight > until else LATEST
        if operator in ("before", "prior to"):
            return min(EARLIEST, since - _DAY), since
        if operator in ("until", "till", "up to"):
            return min(EARLIEST, since), until
        return since, until

    def _range(
        self, first: DateExpression, second: DateExpression, operator: str
    ) -> tuple[int, datetime, datetime] | None:
        """'between A and B', 'from A to B', 'A to B': from the start of A to the end of B."""
        gap = _RANGE.fullmatch(self.text, first.end, second.start)
        if not gap or ("and" in gap.group().lower()) != (operator == "between"):
            return None
        if first.wants and operator not in ("between", "from", "in", "on"):
            return None
        since, until = first.since, second.until
        if first.of_year and not second.of_year:
            # 'May 3 to May 7, 2024' says the year once, at the end.
            year = second.since.astimezone(self.zone).year
            days = first.of_year(year)
            if days and self.expressions.moment(days[0]) >= until:
                days = first.of_year(year - 1)
            if days:
                since = self.expressions.moment(days[0])
        elif since >= until and second.of_year:
            days = second.of_year(second.since.astimezone(self.zone).year + 1)
            if days:
                until = self.expressions.moment(days[1])
        return (second.end, since, until) if since < until else None
