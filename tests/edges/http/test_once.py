"""Idempotency keys: what is sent twice is done once."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.domain.clock import SystemClock
from holdfast.engine import idempotency
from tests.edges.http.conftest import Asking, House
from tests.homes.traces import kept_in

KEY = {"Idempotency-Key": "key-1"}
TURN = {"role": "user", "content": "Hello"}

# Each would leave something twice, or fail the second time, if it were done twice.
WRITES: list[tuple[str, str, Any]] = [
    ("POST", "/v1/memories", {"content": "Ada prefers tabs"}),
    ("POST", "/v1/memories/batch", {"items": [{"content": "One"}, {"content": "Two"}]}),
    ("POST", "/v1/log", {"role": "user", "content": "Hello"}),
    ("POST", "/v1/journal", {"text": "Went to the harbour"}),
    ("POST", "/v1/decisions", {"question": "Which way?", "options": ["left", "right"]}),
    (
        "POST",
        "/v1/conversations",
        {"session": "s1", "messages": [TURN]},
    ),
    ("PATCH", "/v1/memories/first", {"title": "Another"}),
    ("POST", "/v1/memories/first/access", None),
    ("POST", "/v1/memories/first/forget", None),
    ("POST", "/v1/memories/first/archive", None),
    ("POST", "/v1/memories/first/pin", None),
    ("DELETE", "/v1/memories/first", None),
    ("POST", "/v1/undo", {}),
    ("POST", "/v1/observe", {"user": "I moved to Oslo.", "assistant": "Noted."}),
]


@pytest.fixture
def filled(ask: Asking) -> Asking:
    ask.push("The first one", key="first")
    ask.push("The second one", key="second")
    return ask


def state(house: House) -> list[Any]:
    hub = house.hub
    return [list(hub.export())[:-1], [turn.content for turn in hub.turns()]]


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
def test_a_write_sent_twice_is_done_once_and_answered_twice(
    house: House, filled: Asking, method: str, path: str, body: Any
) -> None:
    first = filled(method, path, json=body, headers=KEY)
    assert first.status_code < 300, first.text
    after_first = state(house)
    second = filled(method, path, json=body, headers=KEY)
    assert (second.status_code, second.json()) == (first.status_code, first.json())
    assert second.headers["Idempotent-Replay"] == "true"
    assert "Idempotent-Replay" not in first.headers
    assert state(house) == after_first


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/memories", {"content": "Another text"}),
        ("POST", "/v1/memories", {"content": "Ada prefers tabs", "pinned": True}),
        ("POST", "/v1/log", {"role": "user", "content": "Ada prefers tabs"}),
    ],
)
def test_a_key_that_was_used_for_another_request_is_refused(
    ask: Asking, method: str, path: str, body: Any
) -> None:
    ask.post("/v1/memories", {"content": "Ada prefers tabs"}, headers=KEY)
    answer = ask(method, path, json=body, headers=KEY)
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "idempotency_mismatch"


def test_a_key_is_good_for_the_hub_it_was_used_for(house: House, ask: Asking) -> None:
    other = house.memory.create_hub("other")
    ask.post("/v1/log", {"role": "user", "content": "Hello"}, headers=KEY)
    elsewhere = house.ask(ask.key, other.id)
    answer = elsewhere.post("/v1/log", {"role": "user", "content": "Hello"}, headers=KEY)
    assert answer.status_code == 422


def test_two_people_may_use_the_same_key(house: House, ask: Asking) -> None:
    ben = house.ask(house.member("ben", "contributor"))
    mine = ask.post("/v1/memories", {"content": "Ada prefers tabs"}, headers=KEY)
    his = ben.post("/v1/memories", {"content": "Ben prefers spaces"}, headers=KEY)
    assert (mine.status_code, his.status_code) == (201, 201)


def test_an_answer_is_not_told_to_another_key_of_the_same_person(house: House, ask: Asking) -> None:
    body = {"content": "Ada prefers tabs"}
    ask.post("/v1/memories", body, headers=KEY)
    reading = house.ask(house.key("olga", read_only=True))
    assert reading.post("/v1/memories", body, headers=KEY).status_code == 403


def test_an_answer_is_not_told_to_who_was_sent_away_since(house: House) -> None:
    from holdfast.engine.people import members

    ben = house.ask(house.member("ben", "contributor"))
    body = {"content": "Ben prefers spaces"}
    assert ben.post("/v1/memories", body, headers=KEY).status_code == 201
    members.remove_member(house.memory.core, "hub", house.hub.id, "ben")
    assert ben.post("/v1/memories", body, headers=KEY).status_code == 404


def test_what_failed_may_be_sent_again_with_the_same_key(house: House, ask: Asking) -> None:
    body = {"ids": ["later"]}
    assert ask.post("/v1/memories/batch-archive", body, headers=KEY).status_code == 404
    ask.push("It is there now", key="later")
    assert ask.post("/v1/memories/batch-archive", body, headers=KEY).status_code == 200


def test_requests_with_one_key_at_once_are_done_once(house: House, ask: Asking) -> None:
    answers: list[Any] = []

    def send() -> None:
        body = {"role": "user", "content": "Hello"}
        answers.append(ask.post("/v1/log", body, headers=KEY))

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert any(answer.status_code == 201 for answer in answers)
    assert len(house.hub.turns()) == 1


class Died(RuntimeError):
    """The process ends here: nothing after it happens."""


def broken_off(
    house: House, ask: Asking, monkeypatch: pytest.MonkeyPatch, where: str, request: tuple[Any, ...]
) -> None:
    """A request during which the server dies, and another one takes over."""

    def dies(*_: object, **__: object) -> None:
        raise Died

    method, path, body = request
    with monkeypatch.context() as patch:
        patch.setattr(idempotency, "release", lambda *_: None)
        if where == "before the work":
            patch.setattr(type(house.hub), "log_turn", dies)
            patch.setattr(type(house.hub), "remember", dies)
        else:
            patch.setattr(idempotency, "keep", dies)
        assert ask(method, path, json=body, headers=KEY).status_code == 500
    monkeypatch.setattr(idempotency, "_RUN", "another run")


@pytest.mark.parametrize("request_", [WRITES[0], WRITES[2]])
def test_what_was_cut_off_before_it_wrote_is_done_when_it_is_sent_again(
    house: House, ask: Asking, monkeypatch: pytest.MonkeyPatch, request_: tuple[Any, ...]
) -> None:
    broken_off(house, ask, monkeypatch, "before the work", request_)
    method, path, body = request_
    assert ask(method, path, json=body, headers=KEY).status_code == 201


def test_a_push_that_was_cut_off_after_it_wrote_is_there_once(
    house: House, ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken_off(house, ask, monkeypatch, "after the work", WRITES[0])
    again = ask.post("/v1/memories", WRITES[0][2], headers=KEY)
    assert (again.status_code, again.json()["result"]) == (200, "duplicate")
    assert len(house.hub.list()) == 1


def test_what_would_be_there_twice_is_not_done_again(
    house: House, ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken_off(house, ask, monkeypatch, "after the work", WRITES[2])
    again = ask.post("/v1/log", WRITES[2][2], headers=KEY)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "interrupted")
    assert len(house.hub.turns()) == 1


def test_while_the_first_is_worked_on_the_second_is_told_to_wait(
    house: House, ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[Any] = []
    real = type(house.hub).log_turn

    def asked_meanwhile(hub: Any, *args: Any, **fields: Any) -> Any:
        if not answers:
            answers.append(None)
            answers[0] = ask.post("/v1/log", WRITES[2][2], headers=KEY)
        return real(hub, *args, **fields)

    monkeypatch.setattr(type(house.hub), "log_turn", asked_meanwhile)
    assert ask.post("/v1/log", WRITES[2][2], headers=KEY).status_code == 201
    assert answers[0].status_code == 409
    assert answers[0].json()["error"]["code"] == "in_progress"
    assert answers[0].headers["Retry-After"] == "1"


def test_answers_are_kept_for_a_day(
    house: House, ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = house.memory.core
    ask.post("/v1/log", {"role": "user", "content": "Hello"}, headers=KEY)
    assert idempotency.drop_old(core) == 0
    tomorrow = SystemClock().now() + timedelta(days=1, minutes=1)
    monkeypatch.setattr(core, "clock", type("Clock", (), {"now": lambda self: tomorrow})())
    assert idempotency.drop_old(core) == 1


def test_old_answers_go_when_new_ones_come(
    house: House, ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = house.memory.core
    ask.post("/v1/log", {"role": "user", "content": "Hello"}, headers=KEY)
    tomorrow = SystemClock().now() + timedelta(days=1, minutes=1)
    monkeypatch.setattr(core, "clock", type("Clock", (), {"now": lambda self: tomorrow})())
    ask.post("/v1/log", {"role": "user", "content": "Again"}, headers={"Idempotency-Key": "key-2"})
    assert idempotency.drop_old(core) == 0
    with core.store.read() as reader:
        (left,) = reader.records("", idempotency.KIND, limit=9)
    assert "Again" in left.body["answer"]


@pytest.mark.parametrize("gone", ["memory", "hub"])
def test_what_is_purged_is_in_no_answer_that_was_kept(house: House, ask: Asking, gone: str) -> None:
    new = {"content": "Ada has the flu"}
    made = ask.post("/v1/memories", new, headers=KEY).json()["data"]["id"]
    other = {"Idempotency-Key": "key-2"}
    ask.post("/v1/memories", {"content": "Ada prefers tabs"}, headers=other)
    if gone == "memory":
        ask("DELETE", f"/v1/memories/{made}")
        again = ask.post("/v1/memories", new, headers=KEY)
        assert (again.status_code, again.json()["error"]["code"]) == (404, "not_found")
        assert len(house.hub.list()) == 1
        there = ask.post("/v1/memories", {"content": "Ada prefers tabs"}, headers=other)
        assert there.headers["Idempotent-Replay"] == "true"
    else:
        house.memory.delete_hub(house.hub.name)
    with house.memory.core.store.read() as reader:
        assert "flu" not in repr(reader.records("", idempotency.KIND, limit=9))


@pytest.mark.parametrize("key", ["", "k" * 201])
def test_a_key_that_is_empty_or_too_long_is_refused(house: House, ask: Asking, key: str) -> None:
    answer = ask.post("/v1/memories", {"content": "One"}, headers={"Idempotency-Key": key})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")
    assert house.hub.list() == []


CHANGES_OF_ANOTHERS: list[tuple[str, str, Any]] = [
    ("PATCH", "/v1/memories/{}", {"title": "Another"}),
    ("POST", "/v1/memories/{}/pin", None),
    ("POST", "/v1/memories/{}/access", None),
    ("POST", "/v1/memories/batch-access", {"ids": ["ID"]}),
    ("POST", "/v1/memories/batch-archive", {"ids": ["ID"]}),
    ("POST", "/v1/memories", {"content": "In its place", "supersedes": "ID"}),
    ("POST", "/v1/undo", {}),
]


@pytest.mark.parametrize(("method", "path", "body"), CHANGES_OF_ANOTHERS)
def test_what_was_made_private_since_is_not_told_again(
    house: House, method: str, path: str, body: Any
) -> None:
    """That it was done is told, and nothing of what the memory says or said."""
    import json

    words = ("Zanzibar", "zanzi-tag", "Zanzi title")
    ben = house.ask(house.member("ben", "admin"))
    made = house.hub.remember(f"{words[0]} is the place", title=words[2], tags=[words[1]]).memory
    if path == "/v1/undo":
        ben("PATCH", f"/v1/memories/{made.id}", json={"category": "places"})
    sent = json.loads(json.dumps(body).replace("ID", made.id))
    first = ben(method, path.format(made.id), json=sent, headers=KEY)
    assert first.status_code < 300, first.text
    assert words[0] in first.text
    house.hub.update(made.id, boundary="private")
    again = ben(method, path.format(made.id), json=sent, headers=KEY)
    assert again.status_code == first.status_code
    assert again.headers["Idempotent-Replay"] == "state-only"
    told = again.text.casefold()
    assert not [word for word in words if word.casefold() in told], again.text
    assert made.content_hash not in told
    assert made.id in again.text
    # Shared again, it is told again.
    house.hub.update(made.id, boundary="hub")
    assert ben(method, path.format(made.id), json=sent, headers=KEY).json() == first.json()


def test_a_move_is_told_again_to_who_sees_the_memory_in_its_new_hub(house: House) -> None:
    ask = house.ask()
    there = house.memory.create_hub("there")
    made = house.hub.remember("Zanzibar is the place").memory
    body = {"ids": [made.id], "hub": there.id}
    first = ask.post("/v1/memories/batch-move", body, headers=KEY)
    again = ask.post("/v1/memories/batch-move", body, headers=KEY)
    assert again.json() == first.json()
    assert again.headers["Idempotent-Replay"] == "true"


FORGET = {"about": "zanzibarquux", "purge": True}


@pytest.mark.parametrize(
    ("path", "forget"),
    [
        ("/v1/log/forget", {**FORGET, "dry_run": False}),
        ("/v1/operations/forget_turns", {"arguments": FORGET}),
    ],
)
def test_no_stored_answer_holds_what_was_forgotten(house: House, path: str, forget: Any) -> None:
    ask, home = house.ask(), Path(house.memory.home)
    word = FORGET["about"]
    requests: list[tuple[str, Any]] = [
        ("/v1/observe", {"user": f"We meet in {word}.", "assistant": f"In {word}?"}),
        ("/v1/log", {"role": "user", "content": f"My boat is the {word}."}),
        ("/v1/flush", {"messages": [{"role": "user", "content": f"I prefer {word} to tea."}]}),
        # What would go is told with its words too.
        ("/v1/log/forget", {"about": word}),
        ("/v1/operations/log_turn", {"arguments": {"role": "user", "content": f"{word}!"}}),
    ]
    for number, (where, body) in enumerate(requests):
        first = ask.post(where, body, headers={"Idempotency-Key": f"before-{number}"})
        assert first.status_code < 300, first.text
    gone = ask.post(path, forget, headers=KEY)
    assert str(word) in gone.text
    assert [place for place, data in kept_in(home) if str(word).encode() in data] == []
    # That it was done is known, whatever it removed.
    again = ask.post(path, forget, headers=KEY)
    assert again.status_code == 200
    assert str(word) not in again.text
    assert again.json()["data"]["total"] == 4


def test_purging_a_memory_empties_answers_that_hold_its_words_without_its_id(house: House) -> None:
    ask = house.ask()
    word = "zanzibarquux"
    body = {"messages": [{"role": "user", "content": f"I prefer {word} to tea."}]}
    assert word in ask.post("/v1/flush", body, headers=KEY).text
    captured = [one.id for one in house.hub.list()]
    house.hub.purge_many(captured)
    home = Path(house.memory.home)
    assert [place for place, data in kept_in(home) if word.encode() in data] == []
    assert ask.post("/v1/flush", body, headers=KEY).status_code == 404


@pytest.mark.parametrize("said", ["active", "content", "user"])
def test_forgetting_a_turn_leaves_answers_in_which_its_word_is_no_text(
    house: House, said: str
) -> None:
    ask = house.ask()
    new = {"content": "Ada prefers tabs"}
    ask.post("/v1/memories", new, headers=KEY)
    house.hub.log_turn("user", said, session="s1")
    assert house.hub.forget_turns(session="s1").total == 1
    again = ask.post("/v1/memories", new, headers=KEY)
    assert (again.status_code, again.headers["Idempotent-Replay"]) == (201, "true")


def test_purging_in_one_hub_leaves_the_answers_of_another(house: House) -> None:
    other = house.memory.create_hub("other")
    asks = {hub.name: house.ask(hub=hub.id) for hub in (house.hub, other)}
    new = {"content": "The standup is at nine on Mondays"}
    made = {name: ask.post("/v1/memories", new, headers=KEY) for name, ask in asks.items()}
    assert {one.status_code for one in made.values()} == {201}
    other.purge(made["other"].json()["data"]["id"])
    again = asks[house.hub.name].post("/v1/memories", new, headers=KEY)
    assert (again.status_code, again.headers["Idempotent-Replay"]) == (201, "true")


def test_a_hub_that_is_deleted_empties_answers_without_ids(house: House) -> None:
    word = "zanzibarquux"
    body = {"messages": [{"role": "user", "content": f"I prefer {word} to tea."}]}
    assert word in house.ask().post("/v1/flush", body, headers=KEY).text
    house.memory.delete_hub(house.hub.name)
    home = Path(house.memory.home)
    assert [place for place, data in kept_in(home) if word.encode() in data] == []
