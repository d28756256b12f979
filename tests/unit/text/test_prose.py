"""A prompt without what was pasted into it."""

from __future__ import annotations

import inspect
import textwrap

import pytest

from holdfast.text.analysis.spans import without_pasted

ASKED = "Why does the export time out on staging? It worked before we moved the queue."
CODE = inspect.getsource(textwrap.TextWrapper)
TRACE = """Traceback (most recent call last):
  File "/srv/app/worker/main.py", line 88, in <module>
    main()
  File "/srv/app/worker/repository.py", line 33, in fetch_all
    async with self.pool.acquire(timeout=5) as connection:"""
LOG = """2026-03-02T10:14:22.104Z ERROR worker[3312] message 8f1c failed after three attempts
2026-03-02T10:14:22.107Z INFO  worker[3312] the pool has no connection left
2026-03-02T10:14:27.551Z WARN  worker[3312] the heartbeat is late by five seconds"""
DIFF = """diff --git a/app/pool.py b/app/pool.py
index 1f3a9c2..77b0e11 100644
--- a/app/pool.py
+++ b/app/pool.py
@@ -10,3 +10,3 @@
-    size = settings.get("pool.size", 10)
+    size = settings.get("pool.size", 20)"""
JSON = """{
  "pool": {"size": 10, "timeout": 5},
  "queue": "exports",
  "retries": 3
}"""
JAVASCRIPT = """const pool = new Pool({ max: 10 });
app.get("/exports", async (req, res) => {
  const rows = await pool.query(sql, [req.user.id]);
  res.json(rows);
});"""


@pytest.mark.parametrize("pasted", [CODE, TRACE, LOG, DIFF, JSON, JAVASCRIPT])
def test_what_was_pasted_is_left_out_before_and_after_what_was_written(pasted: str) -> None:
    assert without_pasted(f"{pasted}\n\n{ASKED}") == ASKED
    assert without_pasted(f"{ASKED}\n\n{pasted}") == ASKED
    assert without_pasted(f"{ASKED}\n\n```\n{pasted}\n```\n") == ASKED


def test_a_fence_that_is_not_closed_ends_with_the_prompt() -> None:
    assert without_pasted(f"{ASKED}\n```python\n{CODE}") == ASKED


def test_the_name_of_an_error_stays() -> None:
    text = f"{TRACE}\nasyncpg.TimeoutError: pool exhausted\n\n{ASKED}"
    assert without_pasted(text).split() == f"asyncpg.TimeoutError: pool exhausted {ASKED}".split()


@pytest.mark.parametrize(
    "text",
    [
        "One line with foo(bar) in it; and src/app.py { too",
        "My lifts:\n\n* Squat: 120kg\n* Bench: 95kg\n* Deadlift: 147.5kg\n\nWhat next?",
        "Please buy:\n- apples\n- bread\n- milk\n\nand tell Ana.",
        "Dear all,\nwe moved `parse_config()` to src/config.py.\nPlease use load().\nThanks",
        "Mira wrote:\n> so what do you think\n> shall we meet\n> on Friday\nWhat did I say?",
        "今日は会議があります。\n資料を準備してください。\n明日までにお願いします。",
        "Ich habe gestern mit Jan gesprochen.\nEr kommt um 14:30 Uhr.\nWas muss ich mitbringen?",
    ],
)
def test_what_people_write_stays(text: str) -> None:
    assert without_pasted(text) == text


def test_a_draft_in_a_fence_stays() -> None:
    text = "Is this fine?\n```\nDear Ana, I would like to move our meeting to Friday.\n```"
    assert "move our meeting to Friday" in without_pasted(text)


def test_nothing_but_code_stays_whole() -> None:
    assert without_pasted(CODE) == CODE
