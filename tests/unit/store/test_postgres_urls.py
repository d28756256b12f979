"""A URL of a PostgreSQL store that leads nowhere: what is wrong with it is said, with what to do,
before any server is asked, and without its password."""

from __future__ import annotations

import traceback

import pytest

from holdfast.errors import InvalidSetting

pytest.importorskip("psycopg")

from holdfast.store.postgres import PostgresStore, Standby
from holdfast.store.postgres.urls import address_of
from holdfast.wiring import open_store


@pytest.mark.parametrize(
    ("url", "said", "hint"),
    [
        ("postgresql://me:hunter2@host:abc/db", "has a port that is no number", "host:5432"),
        ("postgresql://me@host:99999/db", "no number from 1 to 65535", "host:5432"),
        ("postgresql://me@host:0/db", "no number from 1 to 65535", "host:5432"),
        ("postgresql://me@host:5432:1/db", "no number from 1 to 65535", "host:5432"),
        ("postgresql://me@host/db?port=abc", "no number from 1 to 65535", "host:5432"),
        ("postgresql://me@a,b,c/db?port=1,2", "names 3 hosts and 2 ports", "one behind each"),
        ("postgresql://me@host/db?sslmode=foo", 'sslmode value: "foo"', "verify-full"),
        ("postgresql://me@host/db?target_session_attrs=x", "target_session_attrs", "read-write"),
        ("postgresql://me@host/db?channel_binding=x", "channel_binding", "after the ?"),
        ("postgresql://me@host/db?service=nowhere", "service", "after the ?"),
        ("postgresql://me@host/db?ssl_mode=require", "`ssl_mode`", "Is `sslmode` meant?"),
        ("postgresql://me@host/db?something=else", "`something`", "settings of libpq"),
        ("postgresql://me@host/db?sslmode", "name=value", "sslmode=require"),
        ("postgresql://me:hun%ter2@host/db", "has a %", "%25"),
        ("postgresql://me:hun ter2@host/db", "has a space", "%20"),
        ("postgresql://me:hunter2/hunter2@host/db", "has an @", "%2F"),
        ("postgresql://me:12/hunter2@host/db", "has an @", "%2F"),
        ("postgresql://me:a/b?hunter2=hunter2@host/db", "cannot be read", "%3F"),
        ("postgresql://me:1/b?hunter2=hunter2@host/db", "cannot be read", "%3F"),
        ("postgresql://me:hun@hunter2@host/db", "has an @", "%40"),
        ("postgresql://me:hunter2@@host/db", "has an @", "%40"),
        ("postgresql://me:1?host=@hunter2@host/db", "has an @", "%40"),
        ("postgresql://[::1/db", "cannot be read", "host:5432"),
        ("postgresql://me@host", "names no database", "after the host"),
    ],
)
def test_what_is_wrong_with_a_url_is_said_without_its_password(
    url: str, said: str, hint: str
) -> None:
    with pytest.raises(InvalidSetting) as caught:
        open_store(url)
    assert said in caught.value.message
    assert hint in caught.value.hint
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(InvalidSetting):
        Standby(url, "holdfast", "")


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("postgresql://me:p%40ss@host/db", "postgresql://me@host/db"),
        ("postgresql://me@one:1,two:2/db", "postgresql://me@one:1,two:2/db"),
        ("postgresql://me@one,two:2/db", "postgresql://me@one,two:2/db"),
        ("postgresql://me@one,two/db?port=3", "postgresql://me@one:3,two:3/db"),
        ("postgresql://me@/d%40b?host=/run/pg", "postgresql://me@/run/pg/d@b"),
        ("postgresql://host/db?user=me@tenant", "postgresql://me@tenant@host/db"),
        ("postgresql://host/db?sslmode=verify-full&sslrootcert=/x", "postgresql://host/db"),
        ("postgresql://me@/db?host=@sockets", "postgresql://me@@sockets/db"),
        ("postgresql://me@[::1]:5433,two/db", "postgresql://me@[::1]:5433,two/db"),
        ("host=one dbname=db", "postgresql://one/db"),
    ],
)
def test_a_url_that_can_be_used_is_taken(url: str, address: str) -> None:
    assert address_of(url) == address


@pytest.mark.parametrize(
    ("url", "variable", "said"),
    [
        ("postgresql://127.0.0.1/db?connect_timeout=soon", ("", ""), "connect_timeout: 'soon'"),
        ("postgresql://127.0.0.1/db?hostaddr=nowhere", ("", ""), 'network address "nowhere"'),
        ("postgresql://127.0.0.1/db", ("PGSSLMODE", "foo"), 'sslmode value: "foo"'),
        ("postgresql://127.0.0.1/db", ("PGPORT", "abc"), '"abc"'),
    ],
)
def test_what_is_only_noticed_on_the_way_is_no_server_that_does_not_answer(
    url: str, variable: tuple[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if variable[0]:
        monkeypatch.setenv(*variable)
    with pytest.raises(InvalidSetting) as caught:
        PostgresStore(url)
    assert said in caught.value.message
