"""Days, weeks, months and years that statements in six languages beside English name
(`tests/data/dates_other_languages_*`)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.text.capture import capture
from holdfast.text.dates import event_in

DATA = Path(__file__).parents[2] / "data"


@pytest.mark.parametrize("half", ["dev", "held_out"])
def test_a_statement_has_the_time_that_it_names(half: str) -> None:
    wrong = []
    for line in (DATA / f"dates_other_languages_{half}.txt").read_text("utf-8").splitlines():
        day, text, wanted = line.split(" | ")
        event = event_in(text, at=datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC))
        if (event.since.date().isoformat() if event else "-") != wanted:
            wrong.append((line, event))
    assert wrong == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "Merk dir, dass der Zahnarzt nächsten Dienstag ist.",
            "Dass der Zahnarzt nächsten Dienstag ist (17 November 2026)",
        ),
        (
            "Retiens que nous avons déménagé la semaine dernière.",
            "Nous avons déménagé la semaine dernière (the week of 2 November 2026)",
        ),
        ("Recuerda que ayer llegó la nevera.", "Ayer llegó la nevera (14 November 2026)"),
        ("Ricorda che l'anno scorso era in affitto.", "L'anno scorso era in affitto (2025)"),
    ],
)
def test_a_request_keeps_its_words_with_the_date_that_they_mean(said: str, kept: str) -> None:
    (fact,) = capture(said, at=datetime(2026, 11, 15, 12, tzinfo=UTC))
    assert fact.text == kept
    assert fact.occurred_at is not None


@pytest.mark.parametrize(
    "said", ["vor 9999 Jahren", "dans 999 mois", "in 999 Wochen", "el 31 de junio"]
)
def test_a_time_beyond_the_calendar_or_a_day_that_is_none_is_no_error(said: str) -> None:
    event_in(said, at=datetime(2, 1, 1, tzinfo=UTC))
    event_in(said, at=datetime(9999, 12, 31, tzinfo=UTC))
