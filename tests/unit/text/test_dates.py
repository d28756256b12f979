"""Dates in words: what each phrase means on a Wednesday in May, and what is no date at all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import InvalidInput
from holdfast.text.dates import EARLIEST, LATEST, find_dates, has_date_word, parse_when
from holdfast.text.dates.expressions import _expression

NOW = datetime(2026, 5, 20, 14, 30, tzinfo=UTC)  # a Wednesday


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


# phrase | first day (or hour) in the window | first one after it
MEANINGS = """
    today                       | 2026-05-20 | 2026-05-21
    yesterday                   | 2026-05-19 | 2026-05-20
    tomorrow                    | 2026-05-21 | 2026-05-22
    the day before yesterday    | 2026-05-18 | 2026-05-19
    the day after tomorrow      | 2026-05-22 | 2026-05-23
    this morning                | 2026-05-20T04 | 2026-05-20T12
    this afternoon              | 2026-05-20T12 | 2026-05-20T18
    last night                  | 2026-05-19T18 | 2026-05-20T06
    tonight                     | 2026-05-20T18 | 2026-05-21T06
    yesterday evening           | 2026-05-19T17 | 2026-05-20
    on Friday night             | 2026-05-15T18 | 2026-05-16T06
    last week                   | 2026-05-11 | 2026-05-18
    this week                   | 2026-05-18 | 2026-05-25
    next week                   | 2026-05-25 | 2026-06-01
    last weekend                | 2026-05-16 | 2026-05-18
    this weekend                | 2026-05-23 | 2026-05-25
    over the weekend            | 2026-05-16 | 2026-05-18
    last month                  | 2026-04-01 | 2026-05-01
    this month                  | 2026-05-01 | 2026-06-01
    next month                  | 2026-06-01 | 2026-07-01
    last quarter                | 2026-01-01 | 2026-04-01
    last year                   | 2025-01-01 | 2026-01-01
    this year                   | 2026-01-01 | 2027-01-01
    next year                   | 2027-01-01 | 2028-01-01
    last Tuesday                | 2026-05-19 | 2026-05-20
    last Wednesday              | 2026-05-13 | 2026-05-14
    last Thursday               | 2026-05-14 | 2026-05-15
    next Tuesday                | 2026-05-26 | 2026-05-27
    next Wednesday              | 2026-05-27 | 2026-05-28
    this Friday                 | 2026-05-22 | 2026-05-23
    last sun                    | 2026-05-17 | 2026-05-18
    on Tuesday                  | 2026-05-19 | 2026-05-20
    on Wednesday                | 2026-05-13 | 2026-05-14
    on Sat                      | 2026-05-16 | 2026-05-17
    on thurs                    | 2026-05-14 | 2026-05-15
    last May                    | 2025-05-01 | 2025-06-01
    last March                  | 2026-03-01 | 2026-04-01
    this May                    | 2026-05-01 | 2026-06-01
    next May                    | 2027-05-01 | 2027-06-01
    next june                   | 2026-06-01 | 2026-07-01
    two weeks ago               | 2026-05-03 | 2026-05-10
    3 days ago                  | 2026-05-17 | 2026-05-18
    a day ago                   | 2026-05-19 | 2026-05-20
    a month ago                 | 2026-04-05 | 2026-05-06
    a year ago                  | 2024-11-19 | 2025-11-19
    a couple of days ago        | 2026-05-18 | 2026-05-19
    a few days ago              | 2026-05-15 | 2026-05-19
    an hour ago                 | 2026-05-20T13 | 2026-05-20T14
    ten days from now           | 2026-05-30 | 2026-05-31
    in May                      | 2026-05-01 | 2026-06-01
    in June                     | 2025-06-01 | 2025-07-01
    in dec                      | 2025-12-01 | 2026-01-01
    in march                    | 2026-03-01 | 2026-04-01
    in early April              | 2026-04-01 | 2026-05-01
    end of April                | 2026-04-01 | 2026-05-01
    in May 2024                 | 2024-05-01 | 2024-06-01
    Sept. 2024                  | 2024-09-01 | 2024-10-01
    March of 2023               | 2023-03-01 | 2023-04-01
    May last year               | 2025-05-01 | 2025-06-01
    May 5                       | 2026-05-05 | 2026-05-06
    May 25                      | 2025-05-25 | 2025-05-26
    May 5th, 2024               | 2024-05-05 | 2024-05-06
    Dec 31, 2024                | 2024-12-31 | 2025-01-01
    5 May 2024                  | 2024-05-05 | 2024-05-06
    the 5th of may              | 2026-05-05 | 2026-05-06
    on 12 March                 | 2026-03-12 | 2026-03-13
    Feb 29                      | 2024-02-29 | 2024-03-01
    May 3-7                     | 2026-05-03 | 2026-05-08
    2024                        | 2024-01-01 | 2025-01-01
    in 2023                     | 2023-01-01 | 2024-01-01
    in 1969                     | 1969-01-01 | 1970-01-01
    2024-05-06                  | 2024-05-06 | 2024-05-07
    2024-05                     | 2024-05-01 | 2024-06-01
    2024/05/06                  | 2024-05-06 | 2024-05-07
    2024-05-06T10:30            | 2024-05-06T10:30 | 2024-05-06T10:31
    2024-05-06 10:30:15+02:00   | 2024-05-06T08:30:15 | 2024-05-06T08:30:16
    25/12/2024                  | 2024-12-25 | 2024-12-26
    12/25/2024                  | 2024-12-25 | 2024-12-26
    05/05/2024                  | 2024-05-05 | 2024-05-06
    Q3 2024                     | 2024-07-01 | 2024-10-01
    over the past 3 days        | 2026-05-17 | 2026-05-21
    in the last two months      | 2026-03-20 | 2026-05-21
    past week                   | 2026-05-13 | 2026-05-21
    the next 3 days             | 2026-05-20 | 2026-05-24
    last 24 hours               | 2026-05-19T14:30 | 2026-05-20T14:30
    last summer                 | 2025-06-01 | 2025-09-01
    last winter                 | 2025-12-01 | 2026-03-01
    this spring                 | 2026-03-01 | 2026-06-01
    next fall                   | 2026-09-01 | 2026-12-01
    summer of 2023              | 2023-06-01 | 2023-09-01
    over the summer             | 2025-06-01 | 2025-09-01
    since March                 | 2026-03-01 | 2026-05-21
    since last Tuesday          | 2026-05-19 | 2026-05-21
    since 2024                  | 2024-01-01 | 2026-05-21
    before June                 | 1900-01-01 | 2025-06-01
    before 2024-05-06           | 1900-01-01 | 2024-05-06
    until Friday                | 1900-01-01 | 2026-05-16
    after May 3, 2024           | 2024-05-04 | 2026-05-21
    after 2030                  | 2031-01-01 | 2200-01-01
    between May 3 and May 7     | 2026-05-03 | 2026-05-08
    between May 18 and May 25   | 2026-05-18 | 2026-05-26
    between May and July 2024   | 2024-05-01 | 2024-08-01
    between November and March  | 2025-11-01 | 2026-04-01
    from June to August         | 2025-06-01 | 2025-09-01
    from Monday to Tuesday      | 2026-05-18 | 2026-05-20
    May 3 to May 7, 2024        | 2024-05-03 | 2024-05-08
    2024-05-06 to 2024-05-10    | 2024-05-06 | 2024-05-11
    from 2021 until 2023        | 2021-01-01 | 2024-01-01
    in the last two weeks of August 2023 | 2023-08-18 | 2023-09-01
    the last week of October 2023        | 2023-10-25 | 2023-11-01
    in the first week of May             | 2026-05-01 | 2026-05-08
    in the second week of April          | 2026-04-08 | 2026-04-15
    the first three days of June 2024    | 2024-06-01 | 2024-06-04
    on the last day of February 2024     | 2024-02-29 | 2024-03-01
    the first weekend of August 2022     | 2022-08-06 | 2022-08-08
    the last weekend in August 2022      | 2022-08-27 | 2022-08-29
    the second half of March 2024        | 2024-03-16 | 2024-04-01
    the first half of 2024               | 2024-01-01 | 2024-07-02
    the Sunday before October 25, 2022   | 2022-10-23 | 2022-10-24
    on the Friday after 5 May 2023       | 2023-05-12 | 2023-05-13
    the day before June 3, 2023          | 2023-06-02 | 2023-06-03
    the day after June 3, 2023           | 2023-06-04 | 2023-06-05
    two days before March 3, 2024        | 2024-03-01 | 2024-03-02
    three days after 2024-05-06          | 2024-05-09 | 2024-05-10
    the week before 23 January, 2023     | 2023-01-16 | 2023-01-23
    the week after May 3, 2024           | 2024-05-04 | 2024-05-11
    two weeks after May 3, 2024          | 2024-05-14 | 2024-05-21
    the weekend before October 25, 2022  | 2022-10-22 | 2022-10-24
    the weekend before October 23, 2022  | 2022-10-15 | 2022-10-17
    the weekend after 5 May 2023         | 2023-05-06 | 2023-05-08
    the week of June 12, 2024            | 2024-06-10 | 2024-06-17
    the weekend of June 12, 2024         | 2024-06-15 | 2024-06-17
    the month before May 2024            | 2024-04-01 | 2024-05-01
    since the week before May 3, 2024    | 2024-04-26 | 2026-05-21
"""
TABLE = [tuple(cell.strip() for cell in row.split("|")) for row in MEANINGS.strip().splitlines()]


@pytest.mark.parametrize(("phrase", "since", "until"), TABLE)
@pytest.mark.parametrize(
    "frame", ["{}", "what did we decide {}?", "{}, Ana left", "We met {} at sea"]
)
def test_what_a_phrase_means(phrase: str, since: str, until: str, frame: str) -> None:
    text = frame.format(phrase)
    (found,) = find_dates(text, now=NOW)
    assert (found.since, found.until) == (moment(since), moment(until))
    assert text[found.start : found.end] == found.words
    assert found.words.lower() in phrase.lower()


NO_DATES = """
    may I ask you something
    you may want this
    it may 5 times fail
    this may be wrong
    may the force be with you
    she may, or may not, come
    we march on Rome
    the march was long
    they march 12 miles
    a march on the capital
    at least 5 may fail
    the sun is out
    sit in the sun
    after sun lotion
    he sat down
    the cat sat on the mat
    they wed in church
    wait a second
    a second ago
    the second of three
    one mon and two tue
    every Monday
    each Tuesday morning
    on Mondays we swim
    a Sunday school
    June told me about it
    April is my sister
    a letter from June
    written by May
    for April
    Jan and August came along
    Augustus ruled Rome
    decide about the marching band
    2000 people came
    2048 tokens
    about 2000 of them
    port 2020
    room 2024
    it costs 2000 dollars
    $2024
    #2024
    version 2023.1
    2024.5
    id-2024-x
    tel. 020-2024-1212
    05/06/2024
    31/31/2024
    2026-02-31
    2024-13
    Feb 31
    1/2
    3:45
    10 of 12
    before 0001-01-01
    9999-12-31
    100 days
    in 3 days' work
    in two minds
    the last of the boats
    the next one
    past the pier
    last but not least
    night shift
    weekend house
    a year of wonders
    fall down
    spring water
    next to the harbour
    daylight
    monthly report
    Sunder and Satya
    maya and marcia
    decent octopus
"""


@pytest.mark.parametrize("text", [row.strip() for row in NO_DATES.strip().splitlines()])
def test_what_is_no_date(text: str) -> None:
    assert find_dates(text, now=NOW) == []


def test_several_dates_are_found_in_order() -> None:
    text = "In May 2024 we met, then on 2025-01-02, and again last Tuesday."
    found = find_dates(text, now=NOW)
    assert [d.words for d in found] == ["In May 2024", "on 2025-01-02", "last Tuesday"]


def test_days_are_those_of_the_zone() -> None:
    # Half past eleven at night in UTC is already tomorrow in Tokyo.
    late = datetime(2026, 5, 20, 23, 30, tzinfo=UTC)
    tokyo = timezone(timedelta(hours=9))
    (found,) = find_dates("today", now=late, zone=tokyo)
    assert found.since == datetime(2026, 5, 20, 15, tzinfo=UTC)
    assert found.since.utcoffset() == timedelta(0)
    assert find_dates("today", now=late, zone=None) == find_dates("today", now=late, zone=UTC)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("on monday or on ſunday", ["on monday", "on ſunday"]),
        ("a walk on saturday mornıng, today", ["on saturday mornıng", "today"]),
        ("met on frıday", ["on frıday"]),
        ("2 weeKs ago", ["2 weeKs ago"]),
        ("İn May 2024", ["İn May 2024"]),
    ],
)
def test_letters_that_differ_from_ascii_only_where_case_counts(text: str, words: list[str]) -> None:
    found = [mention.words for mention in find_dates(text, now=NOW)]
    assert found == words


@pytest.mark.parametrize(
    ("now", "phrase", "since"),
    [
        ("2026-05-16T12:00", "last weekend", "2026-05-09"),
        ("2026-05-16T12:00", "this weekend", "2026-05-16"),
        ("2026-05-16T12:00", "over the weekend", "2026-05-16"),
        ("2026-01-10T12:00", "last month", "2025-12-01"),
        ("2026-01-10T12:00", "last winter", "2024-12-01"),
        ("2026-01-10T12:00", "this winter", "2025-12-01"),
        ("2026-01-10T12:00", "next winter", "2026-12-01"),
        ("2026-07-10T12:00", "last summer", "2025-06-01"),
        ("2026-11-10T12:00", "last summer", "2026-06-01"),
        ("2026-03-31T12:00", "in the past month", "2026-02-28"),
        ("2026-05-01T00:00", "in May", "2026-05-01"),
        ("2026-04-30T23:59", "in May", "2025-05-01"),
    ],
)
def test_the_edges_of_the_calendar(now: str, phrase: str, since: str) -> None:
    (found,) = find_dates(phrase, now=moment(now))
    assert found.since == moment(since)


@given(st.text(max_size=200), st.integers(-(10**4), 10**4))
def test_any_text_is_read_without_an_error(text: str, days: int) -> None:
    find_dates(text, now=NOW + timedelta(days=days))


WORDS = st.lists(
    st.sampled_from(
        """last next this may May 5 31 29 2024 feb to and between since before ago week days 999
        years 0001-01-01 9999-12-31 past a few in on the from tuesday night summer - , 12/31/9999
        2024-05 hours couple of year quarter now until""".split()  # noqa: SIM905
    ),
    max_size=10,
)


@given(WORDS, st.sampled_from([-12, 0, 14]))
def test_every_window_ends_after_it_starts_and_none_overlap(words: list[str], hours: int) -> None:
    text = " ".join(words)
    at = 0
    for found in find_dates(text, now=NOW, zone=timezone(timedelta(hours=hours))):
        assert at <= found.start < found.end
        assert found.since < found.until
        at = found.end


# ── parse_when ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "begins", "ends"),
    [
        ("2026-05-01", "2026-05-01", "2026-05-02"),
        (" 2026-05-01 ", "2026-05-01", "2026-05-02"),
        ("2026-05-01T10:30", "2026-05-01T10:30", "2026-05-01T10:30"),
        ("2026-05-01 10:30:15", "2026-05-01T10:30:15", "2026-05-01T10:30:15"),
        ("2026-05-01T10:30Z", "2026-05-01T10:30", "2026-05-01T10:30"),
        ("2026-05-01T10:30+02:00", "2026-05-01T08:30", "2026-05-01T08:30"),
        ("2026-05", "2026-05-01", "2026-06-01"),
        ("2025", "2025-01-01", "2026-01-01"),
        ("yesterday", "2026-05-19", "2026-05-20"),
        ("Last Tuesday", "2026-05-19", "2026-05-20"),
        ("Tuesday", "2026-05-19", "2026-05-20"),
        ("may", "2026-05-01", "2026-06-01"),
        ("two weeks ago", "2026-05-03", "2026-05-10"),
        ("in May 2024", "2024-05-01", "2024-06-01"),
        ("now", "2026-05-20T14:30", "2026-05-20T14:30"),
        ("1850-01-01", "1850-01-01", "1850-01-02"),
    ],
)
def test_an_argument_is_a_moment(text: str, begins: str, ends: str) -> None:
    assert parse_when(text, now=NOW) == moment(begins)
    assert parse_when(text, now=NOW, end=True) == moment(ends)


def test_an_argument_without_a_zone_is_of_the_reader() -> None:
    zone = timezone(timedelta(hours=2))
    assert parse_when("2026-05-01", now=NOW, zone=zone) == moment("2026-04-30T22:00")
    assert parse_when("2026-05-01T10:30", now=NOW, zone=zone) == moment("2026-05-01T08:30")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2026-02-31", "2026-02 has 28 days"),
        ("2024-02-30", "2024-02 has 29 days"),
        ("9999-12-00", "9999-12 has 31 days"),
        ("2026-13-01", "no month 13"),
        ("2026-00-10", "no month 0"),
        ("0000-01-01", "no year 0"),
        ("2026-02-31T10:00", "2026-02 has 28 days"),
    ],
)
def test_a_date_that_does_not_exist_says_so(text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=f"{text} does not exist: .*{reason}"):
        parse_when(text, now=NOW)


@pytest.mark.parametrize(
    "text",
    ["", "  ", "soon", "the trip in May", "May or June", "05/06/2024", "2026-05-01T25:00", "12345",
     "2026-05-01x", "yesterday and today", "1 2 3", "0001-01-01T00:00+14:00", "x" * 5000, "\x00"],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_examples(text: str) -> None:
    with pytest.raises(InvalidInput, match="not a date") as refused:
        parse_when(text, now=NOW)
    assert "last Tuesday" in str(refused.value)
    assert len(str(refused.value)) < 400


@given(
    st.one_of(st.text(max_size=60), WORDS.map(" ".join), st.from_regex(r"\d{4}-\d\d-\d\d.{0,8}"))
)
def test_an_argument_is_read_or_refused(text: str) -> None:
    try:
        when = parse_when(text, now=NOW, zone=timezone(timedelta(hours=-11)))
    except InvalidInput:
        return
    assert when.utcoffset() == timedelta(0)


def test_open_ends_can_be_told() -> None:
    assert find_dates("before 2020", now=NOW)[0].since == EARLIEST
    assert find_dates("after 2099", now=NOW)[0].until == LATEST


@pytest.mark.parametrize(
    "text",
    [
        *(
            "in 2017",
            "2023-04",
            "2024-05-06",
            "2024-05-06T10:00Z",
            "1/2/2023",
            "2024/3/4",
            "Q3 2022",
        ),
        *("Q3 2022", "port 2021, then 1999.", "$2020 and 30%", "2019-13 (2018)", "q1 2020 q2 2021"),
    ],
)
def test_a_text_without_words_for_times_is_read_by_a_smaller_pattern(text: str) -> None:
    assert not has_date_word(text)
    small, large = (_expression(worded=worded).finditer(text) for worded in (False, True))
    found = [(match.span(), match.lastgroup) for match in small]
    assert found == [(match.span(), match.lastgroup) for match in large]
