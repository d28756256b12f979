"""The official SDKs of OpenAI and Anthropic through the proxy, with streams and tools, before a
model on loopback."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.edges.hooks.state_files import all_states
from holdfast.edges.proxy.memory import ProxyMemory
from tests.clients.model_server import ModelServer, Request, ToolCall
from tests.edges.proxy.proxies import Running, proxy

if TYPE_CHECKING:
    from anthropic import Anthropic
    from openai import OpenAI

KEY = "sk-client-key-that-nobody-may-keep"
FACT = "The staging database runs on port 5544"
QUESTION = "Which port does the staging database use?"
WEATHER: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer("It uses port 5544.") as server:
        yield server


@pytest.fixture
def running(tmp_path: Path, model: ModelServer) -> Iterator[Running]:
    with proxy(tmp_path / "home", model.url) as one:
        yield one


# The SDKs take a second to import: only in the process that runs these tests, not in each that
# collects them.
def openai_client(running: Running) -> OpenAI:
    from openai import OpenAI

    return OpenAI(base_url=f"{running.url}/v1", api_key=KEY, max_retries=0)


def anthropic_client(running: Running) -> Anthropic:
    from anthropic import Anthropic

    return Anthropic(base_url=running.url, api_key=KEY, max_retries=0)


class Sdk:
    """One API through its SDK: ask with messages, and get the text of the answer."""

    def __init__(self, name: str, running: Running) -> None:
        self.name = name
        self.running = running
        self.openai = openai_client(running)
        self.anthropic = anthropic_client(running)

    def close(self) -> None:
        self.openai.close()
        self.anthropic.close()

    def ask(self, *said: str, stream: bool = False, **more: Any) -> str:
        """`said` are the words of the person and of the assistant, in turns."""
        roles = ("user", "assistant")
        messages: list[Any] = [
            {"role": roles[place % 2], "content": text} for place, text in enumerate(said)
        ]
        asks = {"chat": self._chat, "responses": self._responses, "messages": self._messages}
        try:
            return asks[self.name](messages, stream, more)
        finally:
            self.running.settle()

    def _chat(self, messages: list[Any], stream: bool, more: dict[str, Any]) -> str:
        made = self.openai.chat.completions.create(
            model="test-model", messages=messages, stream=stream, **more
        )
        if stream:
            return "".join(chunk.choices[0].delta.content or "" for chunk in made)
        return str(made.choices[0].message.content)

    def _responses(self, messages: list[Any], stream: bool, more: dict[str, Any]) -> str:
        made = self.openai.responses.create(
            model="test-model", input=messages, stream=stream, **more
        )
        if not stream:
            return str(made.output_text)
        events = {event.type: event for event in made}
        return str(events["response.completed"].response.output_text)

    def _messages(self, messages: list[Any], stream: bool, more: dict[str, Any]) -> str:
        given: dict[str, Any] = {"model": "test-model", "messages": messages, "max_tokens": 100}
        if stream:
            with self.anthropic.messages.stream(**given, **more) as made:
                return "".join(made.text_stream)
        return str(self.anthropic.messages.create(**given, **more).content[0].text)


@pytest.fixture(params=["chat", "responses", "messages"])
def sdk(request: pytest.FixtureRequest, running: Running) -> Iterator[Sdk]:
    one = Sdk(request.param, running)
    yield one
    one.close()


def words_of(request: Request) -> list[str]:
    """The texts of the messages that reached the model, without the instructions."""
    rows = request.body.get("messages") or request.body["input"]
    return [str(row["content"]) for row in rows if row["role"] in ("user", "assistant")]


@pytest.mark.parametrize("stream", [False, True])
def test_a_request_gets_what_is_relevant_and_the_turn_is_logged(
    sdk: Sdk, running: Running, model: ModelServer, stream: bool
) -> None:
    running.memory.hub("default", create=True).remember(FACT)
    assert sdk.ask(QUESTION, stream=stream) == "It uses port 5544."
    (request,) = model.take()
    assert FACT in request.text and "<holdfast-memory" in request.text
    assert words_of(request)[-1].endswith(QUESTION)
    assert running.logged == [
        ("user", "user", QUESTION),
        ("assistant", "agent", "It uses port 5544."),
    ]


def test_what_was_said_is_known_in_the_next_conversation(
    sdk: Sdk, running: Running, model: ModelServer
) -> None:
    sdk.ask("Remember that the staging server is called heron.")
    running.work()
    sdk.ask("What do you know about me?")
    assert "heron" in model.take()[-1].text


def test_a_memory_stays_at_its_place_and_is_not_repeated(
    sdk: Sdk, running: Running, model: ModelServer
) -> None:
    hub = running.memory.hub("default", create=True)
    # Not in the standing block: it has room for what matters always.
    running.memory.core.settings.refresh()
    for number in range(40):
        hub.remember(f"The {number}th meeting was about budgets and plans of department {number}")
    sdk.ask("Which server do we use?")
    model.take()
    hub.remember(FACT)
    sdk.ask("Which server do we use?", "It uses port 5544.", QUESTION)
    sdk.ask(
        *("Which server do we use?", "It uses port 5544."),
        *(QUESTION, "It uses port 5544.", "And which port does the staging database use again?"),
    )
    first, second = model.take()
    assert first.text.count(FACT) == 1
    # The same bytes as before, so that the endpoint finds its cached prompt again.
    assert words_of(second)[:3] == words_of(first)
    assert second.text.count(FACT) == 1
    assert first.body.get("system") == second.body.get("system")
    assert first.body.get("instructions") == second.body.get("instructions")


def test_what_was_forgotten_is_no_longer_sent(
    sdk: Sdk, running: Running, model: ModelServer
) -> None:
    hub = running.memory.hub("default", create=True)
    made = hub.remember(FACT)
    sdk.ask(QUESTION)
    assert FACT in model.take()[0].text
    hub.forget(made.memory.id)
    sdk.ask(QUESTION, "Hm.", "Are you sure?")
    assert FACT not in model.take()[0].text


def test_tools_pass_through_and_their_results_are_logged_as_a_tools_words(
    running: Running, model: ModelServer
) -> None:
    with openai_client(running) as client:
        model.tool_calls.append(ToolCall("get_weather", {"city": "Lyon"}))
        tool: Any = {
            "type": "function",
            "function": {"name": "get_weather", "parameters": WEATHER},
        }
        messages: list[Any] = [{"role": "user", "content": "How is the weather in Lyon?"}]
        for _ in range(2):
            made = client.chat.completions.create(
                model="test-model", messages=messages, tools=[tool]
            )
            message = made.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            for call in message.tool_calls or ():
                result = {"role": "tool", "tool_call_id": call.id, "content": "Rain, 12 degrees."}
                messages.append(result)
    assert running.logged == [
        ("user", "user", "How is the weather in Lyon?"),
        ("user", "tool", 'get_weather({"city": "Lyon"})\nRain, 12 degrees.'),
        ("assistant", "agent", "It uses port 5544."),
    ]
    first, second = model.take()
    assert [one["role"] for one in second.body["messages"] if one["role"] != "system"] == [
        *("user", "assistant", "tool"),
    ]
    assert first.body["tools"] == second.body["tools"] == [tool]


def test_tools_of_anthropic_pass_through_in_streams(running: Running, model: ModelServer) -> None:
    with anthropic_client(running) as client:
        model.tool_calls.append(ToolCall("get_weather", {"city": "Lyon"}))
        tool: Any = {"name": "get_weather", "input_schema": WEATHER}
        messages: list[Any] = [{"role": "user", "content": "How is the weather in Lyon?"}]
        for _ in range(2):
            with client.messages.stream(
                model="test-model", max_tokens=100, messages=messages, tools=[tool]
            ) as stream:
                message = stream.get_final_message()
            content = [block.model_dump(exclude_none=True) for block in message.content]
            messages.append({"role": "assistant", "content": content})
            results = [
                {"type": "tool_result", "tool_use_id": block.id, "content": "Rain."}
                for block in message.content
                if block.type == "tool_use"
            ]
            messages.append({"role": "user", "content": results})
    assert [(role, trust) for role, trust, _ in running.logged] == [
        *(("user", "user"), ("user", "tool"), ("assistant", "agent")),
    ]
    assert "get_weather" in running.logged[1][2]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("stateful", [False, True], ids=["whole", "continued"])
def test_tools_of_responses_pass_through(
    running: Running, model: ModelServer, stream: bool, stateful: bool
) -> None:
    tool: Any = {"type": "function", "name": "get_weather", "parameters": WEATHER, "strict": False}
    asked = {"role": "user", "content": "How is the weather in Lyon?"}
    model.tool_calls.append(ToolCall("get_weather", {"city": "Lyon"}))
    with openai_client(running) as client:

        def respond(items: list[Any], **more: Any) -> Any:
            made: Any = client.responses.create(
                model="test-model", input=items, tools=[tool], stream=stream, **more
            )
            if stream:
                made = {event.type: event for event in made}["response.completed"].response
            running.settle()
            return made

        first = respond([asked])
        (call,) = first.output
        assert (call.type, call.name, call.arguments) == (
            *("function_call", "get_weather", '{"city": "Lyon"}'),
        )
        result = {
            "type": "function_call_output",
            "call_id": call.call_id,
            "output": "Rain, 12 degrees.",
        }
        if stateful:
            last = respond([result], previous_response_id=first.id)
        else:
            last = respond([asked, call.model_dump(exclude_none=True), result])
    assert last.output_text == "It uses port 5544."
    named = "" if stateful else 'get_weather({"city": "Lyon"})\n'
    assert running.logged == [
        ("user", "user", "How is the weather in Lyon?"),
        ("user", "tool", f"{named}Rain, 12 degrees."),
        ("assistant", "agent", "It uses port 5544."),
    ]
    assert len({turn.session for turn in running.memory.hub("default").turns()}) == 1
    one, two = model.take()
    assert one.body["tools"] == two.body["tools"] == [tool]
    assert two.body["input"][-1] == result
    if not stateful:
        assert [item.get("type", "message") for item in two.body["input"]] == [
            *("message", "function_call", "function_call_output"),
        ]


def test_the_output_of_a_command_that_a_person_ran_is_not_their_word(running: Running) -> None:
    said: Any = {"role": "user", "content": "<bash-stdout>My name is Mallory.</bash-stdout>"}
    with openai_client(running) as client:
        client.chat.completions.create(model="test-model", messages=[said])
    running.settle()
    assert [role for role, _, _ in running.logged] == ["assistant"]


@pytest.mark.parametrize("stateful", [False, True])
def test_the_answer_after_a_tool_repeats_nothing_that_was_private(
    running: Running, model: ModelServer, stateful: bool
) -> None:
    said = "How is the weather? <private>My code is 5544.</private>"
    asked: Any = {"role": "user", "content": said}
    tool: Any = {"type": "function", "name": "get_weather", "parameters": WEATHER, "strict": False}
    model.tool_calls.append(ToolCall("get_weather", {"city": "Lyon"}))
    with openai_client(running) as client:
        first = client.responses.create(model="test-model", input=[asked], tools=[tool])
        running.settle()
        call: Any = first.output[0]
        result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "Rain."}
        again = [result] if stateful else [asked, call.model_dump(exclude_none=True), result]
        more: Any = {"previous_response_id": first.id} if stateful else {}
        last = client.responses.create(model="test-model", input=again, tools=[tool], **more)
        running.settle()
    assert last.output_text == "It uses port 5544."
    assert not [text for _, _, text in running.logged if "5544" in text]


def test_a_response_that_continues_another_belongs_to_its_conversation(
    running: Running, model: ModelServer
) -> None:
    running.memory.hub("default", create=True).remember(FACT)
    with openai_client(running) as client:
        first = client.responses.create(model="test-model", input=QUESTION)
        client.responses.create(
            model="test-model",
            input="Which port does the staging database use, again?",
            previous_response_id=first.id,
        )
    running.settle()
    turns = running.memory.hub("default").turns(limit=10)
    assert len({turn.session for turn in turns}) == 1 and len(turns) == 4
    second = model.take()[1].body
    # The endpoint has the first message with its block; instructions are sent each time.
    assert second["input"] == "Which port does the staging database use, again?"
    assert "<holdfast-memory" in second["instructions"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_response_can_be_continued_before_it_is_logged(
    running: Running, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    may_log, log = threading.Event(), ProxyMemory.log

    def log_later(memory: ProxyMemory, exchange: Any, answer: Any) -> None:
        assert may_log.wait(20)
        log(memory, exchange, answer)

    monkeypatch.setattr(ProxyMemory, "log", log_later)
    continues = None
    for said in ("Shall we begin?", "Go on."):
        with openai_client(running) as client:
            made: Any = client.responses.create(
                model="test-model", input=said, previous_response_id=continues, stream=stream
            )
            if stream:
                made = {event.type: event for event in made}["response.completed"].response
            continues = made.id
    may_log.set()
    running.settle()
    turns = running.memory.hub("default").turns(limit=10)
    assert len(turns) == 4
    assert len({turn.session for turn in turns}) == 1


def test_the_same_words_in_two_continued_responses_are_two_turns(
    running: Running, model: ModelServer
) -> None:
    with openai_client(running) as client:
        made = client.responses.create(model="test-model", input="Shall we begin?")
        for _ in range(2):
            made = client.responses.create(
                model="test-model", input="Yes, go on.", previous_response_id=made.id
            )
            running.settle()
        # It begins a conversation of its own, whatever was said in another.
        client.responses.create(model="test-model", input="Yes, go on.")
    running.settle()
    turns = running.memory.hub("default").turns(limit=20)
    assert [turn.content for turn in reversed(turns) if turn.role == "user"] == [
        *("Shall we begin?", "Yes, go on.", "Yes, go on.", "Yes, go on."),
    ]
    sessions = [turn.session for turn in reversed(turns)]
    assert len(sessions) == 8
    assert len(set(sessions[:6])) == 1 and sessions[6] not in sessions[:6]


def test_the_key_goes_to_the_endpoint_and_stays_nowhere(
    sdk: Sdk, running: Running, model: ModelServer, tmp_path: Path
) -> None:
    sdk.ask("My name is Ada.", stream=True)
    headers = model.take()[0].headers
    assert KEY in (headers.get("authorization", ""), headers.get("x-api-key", "")) or (
        headers["authorization"] == f"Bearer {KEY}"
    )
    for file in (tmp_path / "home").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()


def test_conversations_are_named_by_a_header_or_told_apart_by_their_messages(
    sdk: Sdk, running: Running
) -> None:
    sdk.ask("Hello!", extra_headers={"X-Holdfast-Session": "mine"})
    sdk.ask("Good morning.")
    sdk.ask("Good morning.", "It uses port 5544.", "How are you?")
    sessions = [turn.session for turn in running.memory.hub("default").turns(limit=10)]
    assert sessions[-2:] == ["mine", "mine"]
    assert len(set(sessions[:-2])) == 1 and len(sessions) == 6 and sessions[0] != "mine"
    known = {state.body["session"] for state in all_states(running.memory.home)}
    assert known == set(sessions)


def test_the_hub_is_named_by_a_header(sdk: Sdk, running: Running, model: ModelServer) -> None:
    running.memory.hub("work", create=True).remember(FACT)
    sdk.ask(QUESTION)
    sdk.ask(QUESTION, extra_headers={"X-Hub-ID": "work"})
    without, with_hub = model.take()
    assert FACT not in without.text and FACT in with_hub.text
    assert "x-hub-id" not in with_hub.headers
    assert len(running.memory.hub("work").turns()) == 2


def test_forget_that_takes_back_what_was_said_last(
    sdk: Sdk, running: Running, model: ModelServer
) -> None:
    said = "Remember that the door code is at the desk."
    sdk.ask(said)
    running.work()
    assert "door code" in str(running.memory.hub("default").list())
    sdk.ask(said, "It uses port 5544.", "Forget that.")
    assert "Forgotten as asked" in model.take()[-1].text
    assert "door code" not in str([one.content for one in running.memory.hub("default").list()])
