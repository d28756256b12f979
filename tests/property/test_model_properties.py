"""Whatever a model says and whatever a server sends: a talk stays within its bounds, and an answer
is an answer or a ModelError."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import ModelError
from holdfast.llm import Answer, ModelCall, ModelTool, Usage, find_model
from holdfast.llm.protocols import AnthropicModel, OpenAICompatibleModel
from holdfast.llm.tool_loop import Limits, Tools, read_arguments, talk
from holdfast.testing import ScriptedModel

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "limit": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "how": {"type": ["string", "null"], "enum": ["a", None]},
    },
    "required": ["query"],
}
# Any text that JSON can spell, halves of surrogate pairs among it.
anything = st.text(st.characters(exclude_categories=()), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | anything,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(anything, inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(["query", "limit", "tags", "how"]) | anything
arguments = st.dictionaries(names, values, max_size=4).map(json.dumps) | values.map(json.dumps)
model_calls = st.builds(ModelCall, anything, st.just("look") | anything, arguments | anything)
answers = st.builds(
    Answer,
    anything,
    st.lists(model_calls, max_size=20).map(tuple),
    st.builds(Usage, st.integers(0, 3), st.integers(0, 900), st.integers(0, 90)),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(answers, min_size=1, max_size=6), st.integers(1, 4), st.integers(1, 4))
def test_a_talk_stays_within_its_bounds_whatever_a_model_says(
    said: list[Answer], rounds: int, requests: int
) -> None:
    done: list[dict[str, Any]] = []

    def look(given_: dict[str, Any]) -> str:
        done.append(given_)
        return given_["query"].upper()

    tools: Tools = {"look": (ModelTool("look", "Looks.", SCHEMA), look)}
    limits = Limits(rounds=rounds, requests=requests, tokens_in=2_000, tokens_out=200)
    model = ScriptedModel(said, again=True)
    found = talk(model, "system", "prompt", tools, limits)
    assert len(model.asked) <= min(rounds, requests)
    assert found.ended in ("done", "rounds", "requests", "tokens", "time")
    for asked in model.asked:
        # Each call has one answer, right after it, and no id comes twice in one message.
        for place, message in enumerate(asked.messages):
            ids = [call.id for call in message.calls]
            assert len(set(ids)) == len(ids)
            following = asked.messages[place + 1 : place + 1 + len(ids)]
            assert [one.answers for one in following] == ids
        assert asked.tokens_max > 0
    for given_ in done:
        assert isinstance(given_["query"], str)
        json.dumps(given_).encode("utf-8")
        assert type(given_.get("limit", 1)) is int


@settings(max_examples=150, deadline=None)
@given(arguments | anything)
def test_arguments_are_values_of_the_schema_or_a_sentence(written: str) -> None:
    found = read_arguments(written, SCHEMA)
    if isinstance(found, str):
        assert found.endswith(".")
        return
    assert set(found) <= set(SCHEMA["properties"])
    assert all(isinstance(one, str) for one in found.get("tags", []))
    assert found.get("how") in ("a", None)


call_shapes = st.fixed_dictionaries(
    {},
    optional={
        "id": values,
        "function": values
        | st.fixed_dictionaries({}, optional={"name": values, "arguments": values}),
    },
)
openai_bodies = values | st.fixed_dictionaries(
    {"choices": st.lists(
        values
        | st.fixed_dictionaries(
            {
                "message": values
                | st.fixed_dictionaries(
                    {},
                    optional={
                        "content": values,
                        "refusal": values,
                        "tool_calls": values | st.lists(values | call_shapes, max_size=3),
                    },
                )
            }
        ),
        max_size=2,
    )}
)  # fmt: skip
anthropic_bodies = values | st.fixed_dictionaries(
    {"content": values | st.lists(
        values
        | st.fixed_dictionaries(
            {"type": st.sampled_from(["text", "tool_use", "thinking"])},
            optional={"text": values, "id": values, "name": values, "input": values},
        ),
        max_size=3,
    )}
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(openai_bodies, anthropic_bodies)
def test_any_json_is_an_answer_or_a_model_error(openai_body: Any, anthropic_body: Any) -> None:
    for name, body in (("openai", openai_body), ("anthropic", anthropic_body)):
        model = find_model(f"{name}:m@http://localhost/v1")
        assert isinstance(model, OpenAICompatibleModel | AnthropicModel)
        try:
            text, calls = model._read(json.loads(json.dumps(body)))
        except ModelError as error:
            assert "wrong shape" in error.message
            continue
        text.encode("utf-8")
        for call in calls:
            call.name.encode("utf-8")
            call.arguments.encode("utf-8")
