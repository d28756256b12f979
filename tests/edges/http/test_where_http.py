"""Conditions on metadata over REST."""

from __future__ import annotations

from tests.edges.http.conftest import Asking
from tests.edges.test_where import NOTES


def test_rest_takes_an_object_to_recall_and_a_line_of_text_to_list(ask: Asking) -> None:
    for content, metadata in NOTES:
        ask.push(content, metadata=metadata)
    answer = ask.post("/v1/recall", {"query": "deploy", "where": {"priority": {"$gte": 2}}})
    assert [hit["memory"]["number"] for hit in answer.json()["data"]] == [1]
    for where in ("priority >= 2", '{"priority": {"$gte": 2}}'):
        listed = ask.get("/v1/memories", params={"where": where}).json()["data"]
        assert [memory["number"] for memory in listed] == [1]
    wrong = ask.get("/v1/memories", params={"where": "priority >"})
    assert (wrong.status_code, "ends where a value" in wrong.text) == (400, True)


def test_a_condition_that_is_none_is_refused_in_one_sentence(ask: Asking) -> None:
    for wrong in ([], 5, False):
        answer = ask.post("/v1/recall", {"query": "deploy", "where": wrong})
        assert answer.status_code == 400
        said = "where: Input should be a valid dictionary or a valid string."
        assert answer.json()["error"]["message"] == said
