"""Files over REST: in, out, refused, read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from holdfast.passes.work import work_until_done
from tests.edges.http.conftest import Asking, House

UPLOAD = "/v1/memories/upload"


def send(ask: Asking, sent: bytes, name: str = "a.txt", **given: Any) -> Any:
    return ask("POST", UPLOAD, files={"file": (name, sent)}, **given)


def work(house: House) -> int:
    return work_until_done(house.memory.core, house.memory.home)


def test_a_file_is_taken_in_read_and_handed_back(house: House, ask: Asking) -> None:
    answer = send(ask, b"The heron has landed.", "report.txt", data={"tags": "birds, news"})
    assert answer.status_code == 201
    sent = answer.json()["data"]
    assert (sent["state"], sent["title"], sent["content_type"]) == (
        "processing",
        "report.txt",
        "file",
    )
    assert sent["tags"] == ["birds", "news"]
    assert sent["source"] == "api"
    (job,) = ask.get("/v1/jobs").json()["data"]
    assert (job["state"], job["memory"]) == ("waiting", sent["id"])
    assert work(house) == 1
    assert ask.get("/v1/jobs").json()["data"][0]["state"] == "done"
    read = ask.get(f"/v1/memories/{sent['id']}").json()["data"]
    assert (read["state"], read["content"]) == ("active", "The heron has landed.")
    back = ask.get(f"/v1/memories/{sent['id']}/attachment")
    assert back.content == b"The heron has landed."
    assert back.headers["content-type"].startswith("text/plain")
    assert back.headers["content-disposition"] == 'attachment; filename="report.txt"'
    assert back.headers["x-content-type-options"] == "nosniff"
    part = ask.get(f"/v1/memories/{sent['id']}/attachment", headers={"Range": "bytes=4-8"})
    assert (part.status_code, part.content) == (206, b"heron")


def test_a_file_sent_again_is_a_duplicate_with_200(ask: Asking) -> None:
    first = send(ask, b"data")
    again = send(ask, b"data", "b.txt")
    assert (again.status_code, again.json()["result"]) == (200, "duplicate")
    assert again.json()["data"]["id"] == first.json()["data"]["id"]


def test_an_idempotency_key_makes_two_uploads_one(ask: Asking) -> None:
    key = {"Idempotency-Key": "u1"}
    first = send(ask, b"data", headers=key)
    again = send(ask, b"data", headers=key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["idempotent-replay"] == "true"
    assert send(ask, b"other data", headers=key).status_code == 422


def test_a_name_cannot_break_out_of_a_header_or_a_folder(house: House, ask: Asking) -> None:
    sent = send(ask, b"data", '../../é"; x=1.txt').json()["data"]
    back = ask.get(f"/v1/memories/{sent['id']}/attachment")
    assert back.headers["content-disposition"].startswith("attachment; filename*=utf-8''")
    assert "\n" not in back.headers["content-disposition"]


def test_html_is_handed_back_as_a_download_that_runs_nowhere(ask: Asking) -> None:
    sent = send(ask, b"<!doctype html><script>alert(1)</script>", "x.html").json()["data"]
    back = ask.get(f"/v1/memories/{sent['id']}/attachment")
    assert back.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in back.headers["content-security-policy"]


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_files_past_the_limits_are_refused_and_leave_nothing(
    open_house: Callable[..., House],
) -> None:
    house = open_house(**{"attachments.bytes_max": 1_000, "attachments.hub_bytes_max": 1_500})
    ask = house.ask()
    assert refusal(send(ask, b"x" * 1_001)) == (413, "body_too_large")
    assert refusal(send(ask, b"x" * 1_000_000)) == (413, "body_too_large")
    assert send(ask, b"x" * 1_000).status_code == 201
    assert refusal(send(ask, b"y" * 1_000)) == (507, "hub_full")
    assert len(ask.get("/v1/memories").json()["data"]) == 1
    assert len(list(house.hub.attachments.present())) == 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"files": {"other": ("a.txt", b"x")}}, (400, "invalid_request")),
        ({"files": [("file", ("a", b"x")), ("file", ("b", b"y"))]}, (400, "invalid_request")),
        ({"files": {"file": ("a.txt", b"")}}, (400, "invalid_input")),
        ({"files": {"x": ("", b"")}, "data": {}}, (400, "invalid_request")),
        ({"files": {"file": ("a", b"x")}, "data": {"owner": "me"}}, (400, "invalid_request")),
        ({"files": {"file": ("a", b"x")}, "data": {"metadata": "[1]"}}, (400, "invalid_request")),
        ({"files": {"file": ("a", b"x")}, "data": {"pinned": "maybe"}}, (400, "invalid_request")),
        ({"files": {"file": ("a", b"x")}, "data": {"boundary": "ours"}}, (400, "invalid_input")),
        (
            {"files": {"file": ("a", b"x")}, "data": {"title": "t" * 70_000}},
            (400, "invalid_request"),
        ),
        ({"json": {"content": "x"}}, (415, "unsupported_media_type")),
        (
            {"content": b"--b\r\n", "headers": {"Content-Type": "multipart/form-data; boundary=b"}},
            (400, "invalid_request"),
        ),
        (
            {"content": b"junk", "headers": {"Content-Type": "multipart/form-data; boundary=b"}},
            (400, "invalid_request"),
        ),
        (
            {
                "content": b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx',
                "headers": {"Content-Type": "multipart/form-data; boundary=b"},
            },
            (400, "invalid_request"),
        ),
    ],
)
def test_a_form_that_is_wrong_is_refused_and_leaves_nothing(
    house: House, ask: Asking, given: dict[str, Any], expected: tuple[int, str]
) -> None:
    assert refusal(ask("POST", UPLOAD, **given)) == expected
    assert list(house.hub.list()) == []
    assert list(house.hub.attachments.present()) == []


def test_who_may_not_write_is_refused_and_a_foreign_file_is_not_there(house: House) -> None:
    sent = send(house.ask(), b"private words", data={"boundary": "private"}).json()["data"]
    viewer = house.ask(house.member("vera", "viewer"))
    assert refusal(send(viewer, b"x"))[0] == 403
    path = f"/v1/memories/{sent['id']}/attachment"
    assert refusal(viewer.get(path)) == (404, "not_found")
    assert viewer.get("/v1/jobs").json()["data"] == []
    stranger = house.ask(house.key("stranger"))
    assert refusal(stranger.get(path)) == refusal(stranger.get("/v1/memories/mem_0/attachment"))


def test_a_memory_without_a_file_has_none_to_hand_back(ask: Asking) -> None:
    made = ask.push("just words")
    assert refusal(ask.get(f"/v1/memories/{made['id']}/attachment")) == (404, "not_found")


def test_a_link_is_fetched_only_when_that_is_asked_for(house: House, ask: Asking) -> None:
    plain = ask.push("https://example.com/a")
    assert (plain["state"], plain["content_type"]) == ("active", "link")
    asked = ask.push("http://127.0.0.1:9/secret", fetch=True)
    assert asked["state"] == "processing"
    assert work(house) == 1
    told = ask.get(f"/v1/memories/{asked['id']}").json()["data"]
    assert told["state"] == "active"
    assert "private address" in told["state_reason"]
    assert refusal(ask.post("/v1/memories", {"content": "no link", "fetch": True})) == (
        400,
        "invalid_input",
    )


def test_all_fields_of_a_form_reach_the_memory(ask: Asking) -> None:
    fields = {"title": "Plan", "category": "project", "key": "plan", "pinned": "true"}
    fields |= {"metadata": json.dumps({"a": 1}), "source_path": "docs/plan.md", "session": "s1"}
    sent = send(ask, b"data", data=fields).json()["data"]
    assert (sent["title"], sent["category"], sent["key"]) == ("Plan", "project", "plan")
    assert sent["pinned"] is True
    assert sent["metadata"]["a"] == 1
    assert (sent["source_path"], sent["session"]) == ("docs/plan.md", "s1")


def test_a_memory_that_moves_takes_its_file_along(house: House, ask: Asking) -> None:
    house.memory.create_hub("elsewhere")
    read = send(ask, b"The heron has landed.").json()["data"]
    work(house)
    waiting = send(ask, b"The stork is on its way.", "b.txt").json()["data"]
    move = {"ids": [read["id"], waiting["id"]], "hub": "elsewhere"}
    moved = ask.post("/v1/memories/batch-move", move)
    assert moved.status_code == 200, moved.text
    one, two = moved.json()["data"]
    assert (one["state"], one["content"]) == ("active", "The heron has landed.")
    assert two["state"] == "processing"
    there = house.ask(hub="elsewhere")
    back = there.get(f"/v1/memories/{one['id']}/attachment")
    assert back.content == b"The heron has landed."
    work(house)
    told = there.get(f"/v1/memories/{two['id']}").json()["data"]
    assert (told["state"], told["content"]) == ("active", "The stork is on its way.")
    assert house.memory.hub("elsewhere").attachments.check() == []
