"""The person's zone, and lengths of time as they are typed."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.edges.cli.command import ago, span
from holdfast.errors import InvalidInput, InvalidSetting
from holdfast.wiring.zone import LocalZone, zone_of

_MOMENTS = st.integers(31_536_000, 2_000_000_000).map(lambda s: datetime.fromtimestamp(s, UTC))


@pytest.fixture(params=["Europe/Berlin", "America/St_Johns", "Asia/Tokyo", "UTC"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield ZoneInfo(request.param)
    monkeypatch.undo()
    time.tzset()


def test_the_machines_zone_agrees_with_the_database_of_zones(zone: ZoneInfo) -> None:
    here = LocalZone()
    at = datetime(2024, 1, 1, tzinfo=UTC)
    while at < datetime(2025, 1, 1, tzinfo=UTC):
        assert at.astimezone(here).replace(tzinfo=None) == at.astimezone(zone).replace(tzinfo=None)
        assert at.astimezone(here).utcoffset() == at.astimezone(zone).utcoffset()
        assert at.astimezone(here).astimezone(UTC) == at
        at += timedelta(minutes=30)


@given(_MOMENTS)
def test_there_and_back_is_the_same_moment(at: datetime) -> None:
    assert at.astimezone(LocalZone()).astimezone(UTC) == at


def test_times_before_1970_where_the_system_knows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, whose C library refuses them."""
    localtime, mktime = time.localtime, time.mktime

    def no_localtime(seconds: float | None = None) -> time.struct_time:
        if seconds is not None and seconds < 0:
            raise OSError(22, "Invalid argument")
        return localtime(seconds)

    def no_mktime(fields: tuple[int, ...]) -> float:
        if fields[0] < 1970:
            raise OverflowError("mktime argument out of range")
        return mktime(fields)

    monkeypatch.setattr(time, "localtime", no_localtime)
    monkeypatch.setattr(time, "mktime", no_mktime)
    at = datetime(1955, 6, 1, 12, tzinfo=UTC)
    there = at.astimezone(LocalZone())
    assert there.utcoffset() == datetime(1970, 1, 2, tzinfo=LocalZone()).utcoffset()
    assert there.astimezone(UTC) == at


def test_a_zone_is_found_by_name() -> None:
    assert zone_of("Europe/Berlin") == ZoneInfo("Europe/Berlin")
    assert isinstance(zone_of(""), LocalZone)
    for name in ("Mars/Base", "../etc/passwd", "\0"):
        with pytest.raises(InvalidSetting):
            zone_of(name)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("90s", timedelta(seconds=90)),
        ("30m", timedelta(minutes=30)),
        ("12h", timedelta(hours=12)),
        ("7d", timedelta(days=7)),
        (" 1W2D ", timedelta(days=9)),
    ],
)
def test_lengths_of_time_are_read(text: str, length: timedelta) -> None:
    assert span(text) == length
    assert ago(text) == length


@pytest.mark.parametrize("text", ["", "7", "d", "7 d", "-7d", "7y", "0d", "1.5h", "999999999w"])
def test_what_is_no_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        span(text)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("10 minutes ago", timedelta(minutes=10)),
        ("an hour ago", timedelta(hours=1)),
        ("a second ago", timedelta(seconds=1)),
        ("yesterday", None),
        ("two weeks ago", None),
        ("", None),
    ],
)
def test_moments_ago_are_exact(text: str, length: timedelta | None) -> None:
    assert ago(text) == length
