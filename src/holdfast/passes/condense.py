"""Condenses MEMORY.md with a model when an addition would exceed its limit. The model proposes a
shorter text; it is used only if each of its statements is supported by a line of the old text or of
the addition. The caller applies it as a rewrite, which can be undone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import InvalidSetting, ModelError
from holdfast.passes import logger, prompt

if TYPE_CHECKING:
    from holdfast.engine.core import Scope

WORK = "condense"
# The second attempt gets what was wrong with the first.
_ATTEMPTS = 2
# A model is asked for fewer characters than the limit, because it counts them badly.
_ROOM = 0.9
_PROBLEMS_TOLD = 5
_STATEMENT_ENDS = re.compile(r"(?<=[.!?;])\s+|(?<!\s)\s*;\s+|\n+")
_MARK = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")


class Condensed(NamedTuple):
    """A shorter text of MEMORY.md, and the model that proposed it."""

    text: str
    model: str


def condense(scope: Scope, text: str, addition: str, *, chars_max: int) -> Condensed | None:
    """A text of MEMORY.md of at most `chars_max` characters with the statements of both; None
    without a model, or if its proposal is too long or says something else."""
    from holdfast.engine.upkeep.model_usage import limits_of, metered_model
    from holdfast.llm.tool_loop import talk

    scope.core.settings.refresh()
    problems: list[str] = []
    try:
        model = metered_model(scope.core, scope.hub_id, WORK)
        if model is None:
            return None
        for _ in range(_ATTEMPTS):
            asked = _prompt(text, addition, int(chars_max * _ROOM), problems)
            proposed = _bare(
                talk(model, prompt("condense"), asked, None, limits_of(scope.core)).text
            )
            problems = _problems(proposed, [text, addition], chars_max)
            if not problems:
                return Condensed(proposed, model.name)
    except (ModelError, InvalidSetting) as error:
        problems = [str(error)]
    log = logger("holdfast.condense")
    log.info("%s: MEMORY.md was not condensed: %s", scope.hub, " ".join(problems))
    return None


def _prompt(text: str, addition: str, chars: int, problems: Sequence[str]) -> str:
    wrong = "\n".join(f"- {one}" for one in problems[:_PROBLEMS_TOLD])
    again = f"\n\nYour last answer could not be used:\n{wrong}" if wrong else ""
    return (
        f"The new file may have at most {chars} characters.\n\n<file>\n{text.strip()}\n</file>\n\n"
        f"<addition>\n{addition.strip()}\n</addition>{again}"
    )


def _bare(answer: str) -> str:
    """The answer without a fence around the whole of it."""
    found = re.fullmatch(r"```(?:markdown|md)?\n(.*?)\n?```", answer.strip(), re.DOTALL)
    return (found[1] if found else answer).strip() + "\n"


def _problems(proposed: str, sources: Sequence[str], chars_max: int) -> list[str]:
    """The problems of a proposal, as sentences for the model; empty if it can be used."""
    if not proposed.strip():
        return ["It is empty."]
    if len(proposed) > chars_max:
        return [f"It has {len(proposed)} characters."]
    lines = [line for source in sources for line in _lines(source)]
    known = {" ".join(line.casefold().split()) for line in lines}
    return [
        f"The file does not say: {line}"
        for line in _lines(proposed)
        if " ".join(line.casefold().split()) not in known and not _is_supported(line, lines)
    ]


def _is_supported(line: str, sources: Sequence[str]) -> bool:
    """Whether each statement of a line is supported by a single old line: words of several lines
    put together can say what none of them says."""
    from holdfast.text.grounding import Span, ground

    statements = filter(str.strip, _STATEMENT_ENDS.split(line))
    return all(any(isinstance(ground(one, s), Span) for s in sources) for one in statements)


def _lines(text: str) -> list[str]:
    """The non-empty lines, including headings, because they may contain instructions."""
    bare = (_MARK.sub("", line).strip().lstrip("#").strip() for line in text.splitlines())
    return [line for line in bare if line and not line.startswith("<!--")]
