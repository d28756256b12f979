"""What the pages say: headers, escaping, errors, and links from other sites."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import apsw
import pytest
from starlette.testclient import TestClient

import holdfast
from holdfast.api.memory import Holdfast
from holdfast.domain.memory import SOURCES
from holdfast.edges.web.rendering import load, t
from holdfast.passes.work import work_until_done
from holdfast.testing import open_for_tests
from tests.edges.http.apps import make_app
from tests.edges.http.conftest import PATIENT
from tests.edges.web.conftest import PAGE

EVIL = "</textarea></script><script>alert('x')</script><img src=x onerror=alert(1)>\"'><b>"
LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


def test_the_first_page_is_find(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    assert "Nothing is remembered here yet" in answer.text


def test_what_a_conversation_said_is_shown_once(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, settings={"shadowJournal.enabled": True}) as memory:
        memory.core.set_has_worker(True)
        memory.hub("default", create=True).observe_turn("I live in Lisbon.", "", session="s")
        work_until_done(memory.core, memory.home)
        app = make_app(memory, key_needed=False, limits=PATIENT)
        with TestClient(app, base_url="http://localhost") as client:
            shown = re.findall("Lives? in Lisbon", client.get("/h/default").text)
            assert len(shown) == 1, shown
            feed = client.get("/h/default/feed", headers=PAGE).text
            assert len(re.findall(r"feed-memory[^>]*>[^<]*Lisbon", feed)) == 1, feed
            journal = client.get("/h/default/results?layer=journal", headers=PAGE).text
            assert "Lisbon" in journal


def test_a_page_of_the_list_is_full_without_lines_that_a_memory_repeats(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, settings={"shadowJournal.enabled": True}) as memory:
        hub = memory.hub("default", create=True)
        for number in range(40):
            hub.remember(f"Note {number} on something else entirely")
        memory.core.set_has_worker(True)
        hub.observe_turn("I live in Lisbon.", "", session="s")
        work_until_done(memory.core, memory.home)
        app = make_app(memory, key_needed=False, limits=PATIENT)
        with TestClient(app, base_url="http://localhost") as client:
            page = client.get("/h/default/results", headers=PAGE).text
    shown = [int(one) for one in re.findall(r"/h/default/m/(\d+)", page)]
    assert len(set(shown)) == 30, shown


def test_turns_without_a_session_are_shown_however_many_others_came_since(
    client: TestClient, memory: Holdfast
) -> None:
    hub = memory.hub()
    hub.log_turn("user", "Said outside of any session")
    for number in range(500):
        hub.log_turn("user", f"Word {number}", session="s")
    assert "Said outside of any session" in client.get("/h/default/log").text
    assert "Word 499" not in client.get("/h/default/log").text


def test_the_doctor_of_the_page_finds_what_that_of_the_command_line_finds(
    client: TestClient, memory: Holdfast
) -> None:
    memory.hub().remember("Prefers tabs")
    assert t("team.healthy") in client.post("/h/default/doctor", headers=PAGE).text
    Path(memory.home).chmod(0o755)
    said = client.post("/h/default/doctor", headers=PAGE).text
    assert t("team.healthy") not in said
    assert f"others can open {memory.home}" in said


@pytest.mark.sqlite_only("damage to the file of the embedded store")
def test_the_doctor_of_the_page_describes_damage_in_a_sentence(
    client: TestClient, memory: Holdfast
) -> None:
    memory.hub().remember("Prefers tabs")
    connection = apsw.Connection(str(Path(memory.home) / "memory.db"))
    connection.execute("DELETE FROM passages")
    connection.close()
    said = client.post("/h/default/doctor", headers=PAGE).text
    assert t("team.healthy") not in said
    assert "memory #1 is not in" in said
    assert "Problem(" not in said


def test_where_a_memory_is_from_is_said_in_words(client: TestClient, memory: Holdfast) -> None:
    for source in SOURCES:
        memory.hub().remember(f"Came in by {source}", source=source)
    page = client.get("/h/default").text
    for source in SOURCES:
        said = t(f"source.{source}")
        assert said != source and f"<span>{said}</span>" in page
        assert f'<option value="{source}">{said}</option>' in page


def test_no_page_may_be_framed_kept_or_run_foreign_code(client: TestClient) -> None:
    for path in ("/", "/sign-in", "/h/nowhere", "/h/default/m/99"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"


def test_nothing_comes_from_elsewhere(client: TestClient, memory: Holdfast) -> None:
    memory.hub().remember("See https://example.org/x for more")
    for path in ("/", "/h/default/m/1", "/sign-in"):
        text = client.get(path).text
        for place in re.findall(r'(?:src|href|action|hx-get|hx-post)="([^"]*)"', text):
            assert place.startswith(("/", "#", "?")), place


def test_static_files_are_kept_for_good_under_their_hash(client: TestClient) -> None:
    page = client.get("/").text
    found = re.findall(r'"(/static/[^"]+)"', page)
    assert len(found) >= 5
    for path in found:
        answer = client.get(path)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["content-encoding"] == "gzip"
    assert client.get("/static/x/../../routes.py").status_code == 404
    assert client.get("/static/x/routes.py").status_code == 404
    assert client.get("/static/x/app.css").headers["cache-control"] == "no-cache"


def test_vendored_files_are_those_that_were_chosen() -> None:
    page = Path(__file__).parents[3] / "docs" / "decisions" / "web-page.md"
    listed = dict(re.findall(r"\| `([\w.]+)` \|.*`([0-9a-f]{64})` \|", page.read_text()))
    assert len(listed) == 3
    for name, expected in listed.items():
        assert hashlib.sha256(load(name).plain).hexdigest() == expected, name


def test_markup_in_every_field_is_text(client: TestClient, memory: Holdfast) -> None:
    hub = memory.hub()
    made = hub.remember(
        EVIL,
        title=EVIL,
        summary=EVIL,
        category="x<b>y",
        tags=["<i>", 'a"b'],
        source_agent=EVIL[:40],
        speaker=EVIL[:40],
        session=EVIL[:40],
    ).memory
    hub.update(made.id, content=EVIL + "2", reason=EVIL)
    hub.log_turn("user", EVIL, session="s")
    for path in (
        "/",
        f"/h/default/m/{made.number}",
        f"/h/default/m/{made.number}/edit",
        "/h/default/results?q=script+alert",
        "/h/default?q=" + "%3Cscript%3Ealert(9)%3C/script%3E",
        "/h/%3Cscript%3E",
    ):
        text = client.get(path, headers=PAGE if "results" in path else {}).text
        assert "<script>alert" not in text, path
        assert "<img src=x" not in text, path
        assert "<b>y" not in text, path


def test_an_unknown_memory_is_a_page_that_says_so(client: TestClient) -> None:
    answer = client.get("/h/default/m/99")
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "99" in answer.text


@pytest.mark.parametrize("path", ["/h/default/nothing", "/h/default/m/1/nothing", "/h/nothing/m"])
def test_an_unknown_page_is_a_page_that_says_so(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "There is no such page here." in answer.text
    assert "openapi" not in answer.text


@pytest.mark.parametrize(
    ("question", "clear"),
    [("What is the billing service written in?", True), ("what database do we run", False)],
)
def test_a_search_that_has_no_clear_match_says_so(
    tmp_path: Path, question: str, clear: bool
) -> None:
    with holdfast.open(tmp_path) as memory:
        memory.hub().remember("The billing service is written in Go")
        app = make_app(memory, key_needed=False, limits=PATIENT)
        with TestClient(app, base_url="http://localhost") as client:
            text = client.get("/h/default", params={"q": question}).text
    assert "1 memory, best first" in text
    assert ("No clear match. The closest:" in text) is not clear


def test_an_unknown_address_of_the_api_is_still_json(client: TestClient) -> None:
    assert client.get("/v1/nothing").json()["error"]["code"] == "not_found"
    assert client.get("/nothing").json()["error"]["code"] == "not_found"


def test_a_title_that_is_too_long_is_refused_and_the_form_keeps_it(
    client: TestClient, memory: Holdfast
) -> None:
    made = memory.hub().remember("Tea at four").memory
    form = {"version": "1", "content": "Tea at five", "title": "T" * 10_000}
    answer = client.post(f"/h/default/m/{made.number}/edit", data=form, headers=PAGE)
    assert answer.status_code == 422
    assert "T" * 10_000 in answer.text
    assert "Tea at five" in answer.text
    assert memory.hub().get(1).content == "Tea at four"


def test_a_form_without_its_fields_is_refused(client: TestClient, memory: Holdfast) -> None:
    memory.hub().remember("The vault opens on Friday")
    forms = [one.path for one in client.app.routes if getattr(one, "methods", None) == {"POST"}]  # type: ignore[attr-defined]
    pages = [path for path in forms if path.startswith("/h/{hub}")]
    assert len(pages) > 20
    for path in pages:
        address = path.replace("{hub}", "default").replace("{reference}", "1")
        answer = client.post(re.sub(r"\{\w+\}", "x", address), headers=PAGE)
        assert answer.status_code < 500, address


@pytest.mark.parametrize("path", ["/h/default/m/1", "/?q=x", "/h/default"])
def test_a_link_from_another_site_does_not_reach_a_page(client: TestClient, path: str) -> None:
    assert client.get(path, headers=LINK).status_code == 403


def test_a_link_from_another_site_to_the_first_page_is_answered_without_content(
    client: TestClient, memory: Holdfast
) -> None:
    memory.hub().remember("The vault opens on Friday")
    answer = client.get("/", headers=LINK)
    assert answer.status_code == 200
    assert "vault" not in answer.text
    assert 'content="0; url=/"' in answer.text
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    for more in (
        {"Sec-Fetch-Dest": "iframe"},
        {"Sec-Fetch-Mode": "no-cors"},
        {"Origin": "http://evil.example"},
        {"Host": "evil.example"},
    ):
        assert client.get("/", headers={**LINK, **more}).status_code in (403, 421)
    assert client.post("/", headers=LINK).status_code == 403


def test_a_page_of_another_origin_does_nothing_through_the_pages(
    client: TestClient, memory: Holdfast
) -> None:
    memory.hub().remember("Tea at four")
    before = memory.hub().changes()
    for headers in (
        {},
        {"Origin": "http://evil.example", **PAGE},
        {"Sec-Fetch-Site": "same-site", **PAGE},
        {"Content-Type": "application/x-www-form-urlencoded"},
    ):
        for action in ("forget", "pin", "archive", "edit"):
            answer = client.post(f"/h/default/m/1/{action}", headers=headers)
            assert answer.status_code == 403
    assert memory.hub().changes() == before


def test_text_of_right_to_left_and_hidden_characters_is_kept_apart(
    client: TestClient, memory: Holdfast
) -> None:
    memory.hub().remember("Pay \u202e001\u202c euros to \u200bAda")
    text = client.get("/h/default/m/1").text
    assert "characters that cannot be seen" in text
    assert 'class="memory-text" dir="auto"' in text
