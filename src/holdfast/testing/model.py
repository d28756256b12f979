"""A language model for tests: it says what it was told to say, and keeps what it was asked.

No network and no chance. What a real model or a broken endpoint would do, a test writes down.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from holdfast.errors import ModelError
from holdfast.llm.base import Answer, Message, ModelCall, Usage

if TYPE_CHECKING:
    from holdfast.llm.base import ModelTool

# A fixed price, so that sums in tests are easy to check.
_USAGE = Usage(1, 100, 10)


class Asked(NamedTuple):
    """One request as the model got it."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ModelTool, ...]
    tokens_max: int
    timeout_s: float

    @property
    def prompt(self) -> str:
        """The first message: what the pass wanted to know."""
        return self.messages[0].text

    @property
    def results(self) -> list[str]:
        """What tools have answered so far."""
        return [message.text for message in self.messages if message.role == "tool"]


# What to answer: a text, an answer, an error to raise, or a function of what was asked.
Scripted: TypeAlias = "str | Answer | ModelError | Callable[[Asked], str | Answer | ModelError]"


def call(tool: str, arguments: Mapping[str, Any] | str | None = None, *, text: str = "") -> Answer:
    """An answer that calls one tool. Arguments given as a string are sent to the letter, also
    where they are no JSON."""
    return calls((tool, arguments or {}), text=text)


def calls(*wanted: tuple[str, Mapping[str, Any] | str], text: str = "") -> Answer:
    """An answer that calls several tools at once."""
    made = tuple(
        ModelCall(
            f"call_{number}",
            name,
            arguments if isinstance(arguments, str) else json.dumps(arguments),
        )
        for number, (name, arguments) in enumerate(wanted)
    )
    return Answer(text, made, _USAGE)


class ScriptedModel:
    """Gives its answers in their order, one for each request, and then says nothing more.

    `asked` holds the requests. With `again`, the last answer is given for ever.
    """

    def __init__(
        self, answers: Iterable[Scripted] = (), *, name: str = "scripted", again: bool = False
    ) -> None:
        self.name = name
        self.asked: list[Asked] = []
        self._answers = list(answers)
        self._again = again
        self._lock = threading.Lock()

    def ask(
        self,
        system: str,
        messages: Sequence[Message],
        *,
        tools: Sequence[ModelTool] = (),
        tokens_max: int,
        timeout_s: float,
    ) -> Answer:
        asked = Asked(system, tuple(messages), tuple(tools), tokens_max, timeout_s)
        with self._lock:
            self.asked.append(asked)
            if len(self._answers) > 1 or (self._answers and not self._again):
                said: Scripted = self._answers.pop(0)
            else:
                said = self._answers[0] if self._answers else ""
        if callable(said):
            said = said(asked)
        if isinstance(said, ModelError):
            raise said
        return Answer(said, usage=_USAGE) if isinstance(said, str) else said
