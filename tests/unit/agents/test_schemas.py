"""The schemas of every tool in every form, checked by the library that clients check them with."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agents import Parameter, Tool, checked
from holdfast.agents.dialects import NAMES, find_dialect
from holdfast.agents.toolset import FORMATS, render, schema_of
from holdfast.errors import InvalidInput

TOOLS = [tool for name in NAMES for tool in find_dialect(name).tools]


@pytest.mark.parametrize("name", NAMES)
def test_a_dialect_has_a_name_a_summary_instructions_and_tools(name: str) -> None:
    dialect = find_dialect(name)
    assert dialect.name == name
    assert dialect.summary.endswith(".")
    assert len(dialect.instructions) > 100
    names = [tool.name for tool in dialect.tools]
    assert len(set(names)) == len(names) > 0


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_and_its_parameters_are_described(tool: Tool) -> None:
    assert tool.title
    assert len(tool.description) >= 40
    assert not (tool.reads and tool.destroys)
    for parameter in tool.parameters:
        assert parameter.help.endswith("."), parameter.name
        assert not (parameter.required and parameter.default is not None), parameter.name
        if parameter.default is not None:
            assert checked_one(parameter, parameter.default) == parameter.default


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_schema_is_one(tool: Tool) -> None:
    for form in FORMATS:
        (spec,) = render([tool], form)
        assert spec["function"]["name"] == tool.name if form == "openai" else spec["name"]
        for schema in schemas_in(spec):
            jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_argument_has_one_type_or_branches_of_one(tool: Tool) -> None:
    # Clients that turn schemas into those of another model drop or refuse lists of types.
    for spec in schema_of(tool)["properties"].values():
        for branch in spec.get("anyOf", [spec]):
            assert isinstance(branch.get("type", ""), str)


def schemas_in(spec: dict[str, Any]) -> list[dict[str, Any]]:
    inner = spec.get("function", spec)
    keys = ("inputSchema", "input_schema", "parameters")
    return [inner[key] for key in keys if key in inner]


@pytest.mark.parametrize("form", ["openai", "openai-responses"])
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_strict_schemas_require_every_key(tool: Tool, form: str) -> None:
    (spec,) = render([tool], form)
    function = spec.get("function", spec)
    schema = function["parameters"]
    assert function["strict"]
    assert schema["additionalProperties"] is False
    assert schema["required"] == list(schema["properties"])
    nulls = {parameter.name: None for parameter in tool.parameters if not parameter.required}
    full = {p.name: example(p) for p in tool.parameters if p.required}
    jsonschema.validate({**full, **nulls}, schema)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_strict_schemas_say_what_null_means_in_words_of_json(tool: Tool) -> None:
    schema = render([tool], "openai")[0]["function"]["parameters"]
    for spec in schema["properties"].values():
        _, said, default = spec["description"].partition(" Left out (null): ")
        assert default not in (".", "().", "False.", "True.") if said else True


@pytest.mark.parametrize(
    ("dialect", "tool", "name", "good", "bad"),
    [
        ("anthropic", "memory", "view_range", [1, -1], [1]),
        (
            "holdfast",
            "archive_conversation",
            "messages",
            [{"role": "user", "content": "Hello"}],
            [{"role": "user"}],
        ),
    ],
)
def test_a_value_has_its_shape_where_schemas_are_strict(
    dialect: str, tool: str, name: str, good: Any, bad: Any
) -> None:
    (row,) = [one for one in find_dialect(dialect).tools if one.name == tool]
    spec = render([row], "openai")[0]["function"]["parameters"]["properties"][name]
    rule = jsonschema.Draft202012Validator(spec)
    assert rule.is_valid(good) and rule.is_valid(None) and not rule.is_valid(bad)


@pytest.mark.parametrize("tool", ["recall", "memory_list"])
def test_a_filter_is_text_or_an_object_and_text_alone_where_schemas_are_strict(tool: str) -> None:
    (row,) = [one for one in find_dialect("holdfast").tools if one.name == tool]

    def accepted(form: str) -> list[bool]:
        (schema,) = schemas_in(render([row], form)[0])
        rule = jsonschema.Draft202012Validator(schema["properties"]["where"])
        given = ("team = core", {"team": {"in": ["core"]}}, ["core"], 3)
        return [rule.is_valid(one) for one in given]

    for form in ("mcp", "anthropic", "json"):
        assert accepted(form) == [True, True, False, False], form
    for form in ("openai", "openai-responses"):
        assert accepted(form) == [True, False, False, False], form
        (schema,) = schemas_in(render([row], form)[0])
        assert "as JSON, in a string" in schema["properties"]["where"]["description"]


def test_a_value_of_any_shape_cannot_be_strict() -> None:
    tool = Tool("t", "T", "", (Parameter("p", "value", "Help."),), lambda ctx, given: "")
    assert render([tool], "openai")[0]["function"]["strict"] is False


def example(parameter: Parameter) -> Any:
    if parameter.choices:
        return parameter.choices[0]
    size = parameter.least or 1
    return {
        "text": "x" * size,
        "whole": size,
        "number": size,
        "flag": True,
        "texts": [f"x{number}" for number in range(size)],
        "reference": "x",
        "filter": {"team": "core"},
        "value": [],
    }[parameter.kind]


def checked_one(parameter: Parameter, value: Any) -> Any:
    tool = Tool("t", "T", "", (parameter,), lambda ctx, given: "")
    return checked(tool, {parameter.name: value})[parameter.name]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 60)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | st.sampled_from(["", "a", "user", "x" * 9]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=4,
)
KINDS = ("text", "whole", "number", "flag", "texts", "reference", "filter")
BOUNDED = ("text", "whole", "number", "texts")


@st.composite
def parameters(draw: st.DrawFn) -> Parameter:
    kind = draw(st.sampled_from(KINDS))
    least = draw(st.none() | st.integers(0, 5)) if kind in BOUNDED else None
    most = draw(st.none() | st.integers(least or 0, 9)) if kind in BOUNDED else None
    return Parameter("p", kind, "Help.", draw(st.booleans()), least=least, most=most)


@given(parameters(), JSON)
def test_what_the_schema_accepts_is_what_a_call_accepts(parameter: Parameter, value: Any) -> None:
    tool = Tool("t", "T", "", (parameter,), lambda ctx, given: "")
    arguments = {"p": value}
    try:
        checked(tool, arguments)
        accepted = True
    except InvalidInput:
        accepted = False
    if value is None:
        # Null means left out; the plain schema does not know that, the strict one does.
        assert accepted == (not parameter.required)
        return
    assert accepted == jsonschema.Draft202012Validator(schema_of(tool)).is_valid(arguments)
