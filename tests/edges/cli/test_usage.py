"""usage, and what the doctor says of language models, as a shell sees them."""

from __future__ import annotations

import socket
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.upkeep.model_usage import metered_model
from holdfast.llm import Message
from holdfast.llm.endpoint import answering
from holdfast.testing import FixedClock, ScriptedModel
from tests.edges.cli.cli_calls import Run
from tests.serve_thread import in_thread

KEY = "sk-test-0123456789abcdef"


def _asked(home: Path, *hubs: str) -> None:
    """Somebody has asked a model, once for each of these hubs."""
    with holdfast.open(home, model=ScriptedModel(["a"], again=True)) as memory:
        for name in hubs:
            hub = memory.hub(name, create=True)
            model = metered_model(memory.core, hub.id, "journal")
            assert model is not None
            model.ask("", [Message("user", "Hi")], tokens_max=10, timeout_s=1.0)


def test_usage_is_a_line_for_each_day_pass_and_model(run: Run, home: Path) -> None:
    _asked(home, "default", "default")
    ran = run("usage")
    assert ran.code == 0
    (row,) = ran.rows
    assert row[:1] + row[2:] == ["default", "journal", "scripted", "2", "0", "200", "20"]
    assert "220 tokens in all" in ran.err


def test_usage_as_json_has_its_fields_by_name(run: Run, home: Path) -> None:
    _asked(home, "default")
    (row,) = run("usage", "--json").data
    del row["day"]
    assert row == {
        "hub": "default",
        "work": "journal",
        "model": "scripted",
        "requests": 1,
        "failed": 0,
        "tokens_in": 100,
        "tokens_out": 10,
    }


def test_usage_of_every_hub(run: Run, home: Path) -> None:
    _asked(home, "default", "work")
    assert [row[0] for row in run("usage").rows] == ["default"]
    assert sorted(row[0] for row in run("usage", "--all").rows) == ["default", "work"]


def test_usage_of_days_long_past_is_not_that_of_today(run: Run, home: Path) -> None:
    model = ScriptedModel(["a"])
    with holdfast.open(home, model=model, clock=FixedClock()) as memory:
        metered = metered_model(memory.core, memory.hub().id, "journal")
        assert metered is not None
        metered.ask("", [Message("user", "Hi")], tokens_max=10, timeout_s=1.0)
    assert run("usage", "--days", "1").rows == []


def test_where_no_model_was_asked_a_note_says_so(stocked: Run) -> None:
    ran = stocked("usage")
    assert (ran.code, ran.out) == (0, "")
    assert "No language model was asked" in ran.err
    assert stocked("usage", "--json").data == []


@pytest.mark.parametrize("days", ["0", "-1", "401"])
def test_days_beyond_what_is_kept_are_refused(stocked: Run, days: str) -> None:
    ran = stocked("usage", "--days", days)
    assert ran.code == 2
    assert "from 1 to 400" in ran.err


# The doctor


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("", "none"),
        ("openai:tiny", "openai:tiny (its key is missing: OPENAI_API_KEY is not set here)"),
        ("anthropic:c", "anthropic:c (its key is in ANTHROPIC_API_KEY)"),
        (
            "openai:tiny@http://127.0.0.1:9/v1",
            "openai:tiny@http://127.0.0.1:9/v1 (on this machine, which needs no key)",
        ),
    ],
)
def test_the_doctor_says_which_model_there_is_and_whether_its_key_is_there(
    stocked: Run, monkeypatch: pytest.MonkeyPatch, model: str, said: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("HOLDFAST_LLM_MODEL", model)
    ran = stocked("doctor")
    assert ran.code == 0
    assert dict(ran.rows)["llm.model"] == said
    assert KEY not in ran.out + ran.err
    assert stocked("doctor", "--json").data["language_models"] == {"llm.model": said}


def test_the_doctor_names_a_pass_s_own_model_and_the_variable_of_its_key(
    stocked: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("HOLDFAST_LLM_KEY_VARIABLE", "MY_KEY")
    monkeypatch.setenv("HOLDFAST_SHADOWJOURNAL_MODEL", "openai:tiny@http://127.0.0.1:9/v1")
    told = dict(stocked("doctor").rows)
    assert told["llm.model"] == "none"
    assert told["shadowJournal.model"].endswith("(its key is in MY_KEY)")


def test_the_doctor_finds_a_setting_that_names_no_model(
    stocked: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_LLM_MODEL", "gpt-5")
    ran = stocked("doctor")
    assert ran.code == 6
    problems = [row[1] for row in ran.rows if row[0] == "problem"]
    assert len(problems) == 1
    assert "The language model 'gpt-5' is not known" in problems[0]


class _Refusing(BaseHTTPRequestHandler):
    """A server that wants a key, whatever it is asked."""

    def do_GET(self) -> None:
        assert "Authorization" not in self.headers
        self.send_error(401)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


def test_the_doctor_says_whether_the_model_server_answers(
    stocked: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with in_thread(HTTPServer(("127.0.0.1", 0), _Refusing)) as server:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        monkeypatch.setenv("HOLDFAST_LLM_MODEL", f"openai:m@{url}")
        ran = stocked("doctor")
        assert dict(ran.rows)["model server"] == f"{url} answers"
        assert KEY not in ran.out + ran.err
    # Nobody is there any more: that is said, and the installation is as it should be.
    gone = stocked("doctor", "--json")
    assert (gone.code, gone.data["model_servers"]) == (0, {url: "Connection refused"})


def test_a_model_server_that_hangs_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        assert answering([url, url], wait_s=0.05) == {url: "no answer within 0.05 seconds"}
