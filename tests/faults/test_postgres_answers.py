"""What can go wrong with a PostgreSQL server, made to happen on a real one. Through each edge the
answer is a sentence and a code to act on; what was not written can be written afterwards; what may
be tried again is, unseen; and nothing is there twice."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from starlette.testclient import TestClient

from holdfast.api.memory import open as open_memory
from holdfast.edges.cli import main
from holdfast.engine.people import keys
from holdfast.errors import HoldfastError, InvalidSetting, ServerUnreachable, StoreReadOnly
from holdfast.wiring import open_store, without_password
from tests.edges.http.conftest import client_of
from tests.postgres_server import LOCKED, ROLE, Server, database, databases, needs, spare_server

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres import PostgresStore  # noqa: E402
from holdfast.store.postgres.advisory_locks import LOCK_CLASS  # noqa: E402
from holdfast.store.postgres.connections import READERS_MAX  # noqa: E402 - the extra
from holdfast.store.postgres.schema import newest  # noqa: E402
from tests.faults.postgres_edges import (  # noqa: E402
    SETTINGS,
    Answer,
    Ask,
    Line,
    Stranger,
    answering,
    command_line,
    library,
    rest,
    run_command,
    url_of,
)

pytestmark = pytest.mark.faults

EDGES = ("library", "command line", "REST")


class Place:
    """A database with a hub, as its owner sees it and as programs do."""

    def __init__(self, name: str, owner: str, programs: str) -> None:
        self.name, self.owner, self.programs = name, owner, programs
        with open_memory(settings={**SETTINGS, "store.url": programs}) as memory:
            memory.create_hub("plans")
            memory.hub("plans").remember("The first one")
            self.key = keys.create_key(memory.core, "of olga", actor="olga").secret

    def run(self, statement: str) -> None:
        with psycopg.connect(self.owner, autocommit=True) as connection:
            connection.execute(statement)

    def there(self) -> list[str]:
        """What is in the tables, and that each memory has its one revision."""
        with psycopg.connect(self.owner) as connection:
            found = connection.execute(
                "SELECT m.content, (SELECT count(*) FROM holdfast.revisions r WHERE"
                " r.hub_id = m.hub_id AND r.memory = m.number) FROM holdfast.memories m"
                " ORDER BY m.number"
            ).fetchall()
        assert all(revisions == 1 for _, revisions in found)
        return [content for content, _ in found]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "place"))
    with database() as owner:
        name = psycopg.conninfo.conninfo_to_dict(owner)["dbname"]
        yield Place(name, owner, databases().url(name, ROLE))
        databases().execute(f"ALTER DATABASE {name} RESET ALL")


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with client_of(None) as served:
        yield served


Through = Callable[..., Ask]


@pytest.fixture(params=EDGES)
def through(
    request: pytest.FixtureRequest, tmp_path: Path, client: TestClient, place: Place
) -> Iterator[Through]:
    """Makes a way to ask, through one of the edges, of the database at a URL."""
    with ExitStack() as stack:

        def make(url: str, key: str = place.key) -> Ask:
            home = tmp_path / request.param
            if request.param == "command line":
                return command_line(url, home)
            memory = stack.enter_context(open_memory(home, settings={**SETTINGS, "store.url": url}))
            return library(memory) if request.param == "library" else rest(client, memory, key)

        yield make


class Told(NamedTuple):
    """What each edge says of one trouble."""

    error: str
    words: str
    name: str
    exit_code: int
    status: int
    code: str
    later: bool

    def of(self, answer: Answer) -> None:
        """Checks an answer, whichever edge gave it."""
        assert self.words in answer.said, answer
        assert answer.said.split(answer.hint)[0].strip().endswith("."), answer
        assert answer.hint.endswith("."), answer
        codes = {
            self.error: self.error,
            self.exit_code: self.name,
            self.status: self.code,
        }
        assert codes.get(answer.code) == answer.name, answer
        assert answer.later is (self.later and answer.code == self.status), answer


# At the door


@contextmanager
def _wrong_password(place: Place) -> Iterator[str]:
    needs(passwords=True)
    yield url_of(place.owner, user=LOCKED, password="hunter2")


@contextmanager
def _no_password(place: Place) -> Iterator[str]:
    needs(passwords=True)
    yield url_of(place.owner, user=LOCKED)


@contextmanager
def _no_such_database(place: Place) -> Iterator[str]:
    yield url_of(place.owner, dbname="elsewhere", password="hunter2")


@contextmanager
def _no_slot_left(place: Place) -> Iterator[str]:
    with _somebody(place, "LOGIN CONNECTION LIMIT 0") as url:
        yield url


@contextmanager
def _may_not_log_in(place: Place) -> Iterator[str]:
    with _somebody(place, "NOLOGIN") as url:
        yield url


@contextmanager
def _not_let_in(place: Place) -> Iterator[str]:
    place.run(f"REVOKE CONNECT ON DATABASE {place.name} FROM public")
    try:
        with _somebody(place, "LOGIN") as url:
            yield url
    finally:
        place.run(f"GRANT CONNECT ON DATABASE {place.name} TO public")


@contextmanager
def _somebody(place: Place, attributes: str) -> Iterator[str]:
    """The URL of a role of its own: others use the server too."""
    role = f"{place.name}_somebody"
    place.run(f"CREATE ROLE {role} {attributes} PASSWORD 'hunter2'")
    try:
        yield url_of(place.owner, user=role, password="hunter2")
    finally:
        place.run(f"DROP ROLE {role}")


@contextmanager
def _too_new(place: Place) -> Iterator[str]:
    newer = newest() + 1
    place.run(
        "INSERT INTO holdfast.migrations (version, name, oldest, partitions, citus)"
        f" VALUES ({newer}, 'later', {newer}, 1, false)"
    )
    try:
        yield url_of(place.programs, password="hunter2")
    finally:
        place.run(f"DELETE FROM holdfast.migrations WHERE version = {newer}")


AT_THE_DOOR = {
    "wrong password": (_wrong_password, "refused the user or the password", "PGPASSWORD"),
    "no password": (_no_password, "asks for a password, and none was given", "~/.pgpass"),
    "no such database": (_no_such_database, "no database `elsewhere`", "createdb elsewhere"),
    "no slot left": (_no_slot_left, "takes no more connections", "max_connections"),
    "not let in": (_not_let_in, "does not let", "GRANT CONNECT"),
    "may not log in": (_may_not_log_in, "refused the user", "store.url"),
    "a newer schema": (_too_new, f"this Holdfast knows up to {newest()}", "Upgrade Holdfast"),
}


@pytest.mark.parametrize("trouble", AT_THE_DOOR)
def test_who_is_not_let_in_is_told_why_without_the_password(
    place: Place, tmp_path: Path, trouble: str
) -> None:
    make, words, advice = AT_THE_DOOR[trouble]
    with make(place) as url:
        with pytest.raises(HoldfastError) as caught:
            open_memory(tmp_path, settings={**SETTINGS, "store.url": url})
        assert words in caught.value.message
        assert advice in caught.value.hint
        # The server is slow to load; one trouble shows that it ends as any other command does.
        commands = [["recall", "first"], ["serve", "--port", "0"]]
        for command in commands[: 2 if trouble == "wrong password" else 1]:
            ran = run_command([*command, "--json"], url, tmp_path)
            assert ran.returncode == 6
            told = json.loads(ran.stderr)["error"]
            assert words in told["message"]
            assert advice in told["hint"]
            assert "hunter2" not in ran.stderr + ran.stdout
    assert place.there() == ["The first one"]
    with open_memory(tmp_path, settings={**SETTINGS, "store.url": place.programs}) as memory:
        assert len(memory.hub("plans").list()) == 1


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:hunter2@db.example/holdfast",
        "postgresql://db.example/holdfast?password=hunter2&sslmode=require",
        "postgresql://db.example/holdfast?p%61ssword=hunter2",
        "postgresql://ada@db.example/holdfast?sslpassword=hunter2",
        "postgresql://ada:hun/ter2@db.example/holdfast",
        "postgresql://ada:what?hunter2@db.example/holdfast",
        "postgresql://ada@db.example/holdfast?password=what@hunter2",
    ],
)
def test_a_url_is_shown_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    shown = without_password(url)
    assert "ter2" not in shown
    assert "://" in shown
    assert "db.example" in shown or "…" in shown
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    with monkeypatch.context() as given:
        given.setenv("HOLDFAST_STORE_URL", url)
        for words in (["config", "list"], ["config", "get", "store.url"]):
            assert main([*words, "--json"]) == 0
    for words in (["config", "set", "store.url", url], ["move", "--to", url, "--switch"]):
        assert main(words) == 2
        said = capsys.readouterr()
        assert "PGPASSWORD" in said.err
        assert "ter2" not in said.out + said.err
    assert not any("ter2" in path.read_text() for path in tmp_path.rglob("*.toml"))


@pytest.mark.parametrize("words", ["host=db user=ada password=hunter2", "password=hun:ter2", ""])
def test_what_is_no_url_is_not_repeated(words: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        open_store(words)
    assert "hun" not in str(caught.value)


# In use


@contextmanager
def _only_reads(place: Place) -> Iterator[str]:
    with _somebody(place, "LOGIN") as url:
        role = f"{place.name}_somebody"
        place.run(f"GRANT USAGE ON SCHEMA holdfast TO {role}")
        place.run(f"GRANT SELECT ON ALL TABLES IN SCHEMA holdfast TO {role}")
        try:
            yield url
        finally:
            place.run(f"DROP OWNED BY {role}")


@contextmanager
def _is_read_only(place: Place) -> Iterator[str]:
    place.run(f"ALTER DATABASE {place.name} SET default_transaction_read_only = on")
    try:
        yield place.programs
    finally:
        with psycopg.connect(place.owner, autocommit=True) as connection:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(f"ALTER DATABASE {place.name} RESET ALL")


@contextmanager
def _stopped_by_the_server(place: Place) -> Iterator[str]:
    """What is held by somebody else takes longer than the server allows a statement."""
    place.run(f"ALTER DATABASE {place.name} SET statement_timeout = '150ms'")
    with _held(place):
        yield place.programs


@contextmanager
def _held(place: Place) -> Iterator[None]:
    stranger = Stranger(place.owner)
    stranger.hold()
    try:
        yield
    finally:
        stranger.let_go()
        stranger.close()
        place.run(f"ALTER DATABASE {place.name} RESET ALL")


IN_USE = {
    "a role that may only read": (
        _only_reads,
        Told("StoreReadOnly", "may not", "read_only", 6, 503, "read_only", later=True),
    ),
    "a server that only reads": (
        _is_read_only,
        Told("StoreReadOnly", "cannot be written", "read_only", 6, 503, "read_only", later=True),
    ),
    "statement timeout": (
        _stopped_by_the_server,
        Told(
            "DeadlineExceeded",
            "stopped the write",
            "deadline_exceeded",
            7,
            504,
            "deadline_exceeded",
            False,
        ),
    ),
}


@pytest.mark.parametrize("trouble", IN_USE)
def test_what_cannot_be_written_is_reported_and_can_be_written_later(
    place: Place, through: Through, trouble: str
) -> None:
    make, told = IN_USE[trouble]
    with make(place) as url:
        answer = through(url)("Another one")
        told.of(answer)
        assert "postgresql://" not in answer.said or answer.code != told.status
    assert place.there() == ["The first one"]
    assert through(place.programs)("Another one").done
    assert place.there() == ["The first one", "Another one"]


@pytest.mark.parametrize("trouble", ["a role that may only read", "a server that only reads"])
def test_what_can_only_be_read_is_read(place: Place, tmp_path: Path, trouble: str) -> None:
    make, _ = IN_USE[trouble]
    with make(place) as url:
        for words in (["recall", "first"], ["get", "1"], ["list"], ["history", "1"], ["context"]):
            ran = run_command([*words, "--hub", "plans"], url, tmp_path)
            assert ran.returncode == 0, ran.stderr
            assert "first" in ran.stdout or words[0] == "history"
    assert place.there() == ["The first one"]


@pytest.mark.parametrize("edge", ["library", "REST"])
def test_connections_that_are_all_in_use_are_told_and_waited_for_no_longer_than_said(
    place: Place, tmp_path: Path, client: TestClient, monkeypatch: pytest.MonkeyPatch, edge: str
) -> None:
    """A command has connections of its own; what is full for it is the server (see above)."""
    for name in ("RECONNECT_WAIT_S", "BUSY_WAIT_S"):
        monkeypatch.setattr(f"holdfast.store.postgres.connections.{name}", 0.3)
    settings = {**SETTINGS, "store.url": place.programs}
    with open_memory(tmp_path, settings=settings) as memory:
        ask = library(memory) if edge == "library" else rest(client, memory, place.key)
        with ExitStack() as held:
            for _ in range(READERS_MAX):
                held.enter_context(memory.core.store.read())
            words = f"All {READERS_MAX} connections"
            Told("StoreBusy", words, "busy", 6, 503, "busy", later=True).of(ask("Another"))
        assert place.there() == ["The first one"]
        assert ask("Another").done
    assert place.there() == ["The first one", "Another"]


# What is tried again, unseen


def test_a_session_that_is_ended_in_mid_write_is_begun_again(
    place: Place, through: Through
) -> None:
    with _stranger(place) as stranger, answering(through(place.programs), "Once") as answer:
        stranger.end(stranger.victim())
        stranger.let_go()
        assert answer().done
    assert place.there() == ["The first one", "Once"]


def test_a_line_that_is_cut_in_mid_write_is_made_anew(place: Place, through: Through) -> None:
    line = Line(place.programs)
    with _stranger(place) as stranger, answering(through(line.url), "Once") as answer:
        stranger.victim()
        line.cut()
        # The server does not see that the line is cut while it waits: the turn is not free yet.
        stranger.let_go()
        assert answer().done
    line.close()
    assert place.there() == ["The first one", "Once"]


def test_a_deadlock_with_somebody_else_is_got_out_of(place: Place, through: Through) -> None:
    """Somebody holds a table and asks for the writer's turn; the writer has it and wants in."""
    # Who looks for a deadlock first gives way; a stranger may be in no hurry. The server looks
    # once, so long after a wait began: by then the stranger has to wait too.
    place.run(f"ALTER DATABASE {place.name} SET deadlock_timeout = '1s'")
    ask = through(place.programs)
    with _stranger(place, in_no_hurry=True) as stranger, answering(ask, "Once") as answer:
        stranger.victim()
        # Given only when the writer has let go of it, which nothing but the deadlock makes it do.
        stranger.want(LOCK_CLASS)
        stranger.let_go()
        assert answer().done
    assert place.there() == ["The first one", "Once"]


def test_a_server_that_is_strict_by_itself_is_not_in_the_way(
    place: Place, through: Through
) -> None:
    """Writers say READ COMMITTED and take turns by locks, readers only read: neither can fail to
    be serialized, whatever the database says, and whoever else is at work in it."""
    place.run(f"ALTER DATABASE {place.name} SET default_transaction_isolation = 'serializable'")
    ask = through(place.programs)
    with psycopg.connect(place.owner) as other:
        other.execute("SELECT count(*) FROM holdfast.memories")
        other.execute("UPDATE holdfast.hub_counts SET passages = passages")
        with answering(ask, "Once") as answer:
            threading.Event().wait(0.1)
            other.commit()
            assert answer().done
    assert place.there() == ["The first one", "Once"]


# How a server writes what it answers, and reads what it is sent, where nobody says otherwise.
HABITS = {
    "TimeZone": "Asia/Kathmandu",
    "DateStyle": "SQL, DMY",
    "IntervalStyle": "sql_standard",
    "bytea_output": "escape",
    "extra_float_digits": "-15",
    "standard_conforming_strings": "off",
    "array_nulls": "off",
}


def test_the_habits_of_a_server_are_not_in_the_way(place: Place) -> None:
    for name, value in HABITS.items():
        place.run(f"ALTER DATABASE {place.name} SET {name} = '{value}'")
    text = "A back\\slash \\n, and O'Reilly"
    with open_memory(settings={**SETTINGS, "store.url": place.programs}) as memory:
        hub = memory.hub("plans")
        kept = hub.remember(text, metadata={"a": [1, None, "x\\y"]}).memory
        assert hub.get(kept.id) == kept
        assert kept.content == text
        assert [hit.memory.id for hit in hub.recall("O'Reilly")] == [kept.id]
        assert memory.core.store.skew() == timedelta()


@pytest.mark.parametrize(
    ("setting", "value"), [("row_security", "off"), ("default_transaction_read_only", "on")]
)
def test_a_setting_that_is_in_the_way_is_named(place: Place, setting: str, value: str) -> None:
    of_role = f"ALTER ROLE {ROLE} IN DATABASE {place.name}"
    place.run(f"{of_role} SET {setting} = {value}")
    try:
        with (
            open_memory(settings={**SETTINGS, "store.url": place.programs}) as memory,
            pytest.raises(StoreReadOnly) as told,
        ):
            memory.hub("plans").remember("Not written")
    finally:
        place.run(f"{of_role} RESET ALL")
    assert setting in (told.value.hint or "")
    assert place.there() == ["The first one"]


@pytest.mark.parametrize("state", ["serialization_failure", "deadlock_detected"])
def test_a_transaction_that_the_server_gives_up_is_begun_again(
    place: Place, through: Through, state: str
) -> None:
    """By force: somebody has put a trigger there that fails the first time."""
    place.run(
        "CREATE SEQUENCE public.times; GRANT ALL ON SEQUENCE public.times TO public;"
        " CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " IF nextval('public.times') = 1 THEN"
        f" RAISE EXCEPTION 'once' USING ERRCODE = '{state}'; END IF; RETURN NEW; END $$;"
        " CREATE TRIGGER fails BEFORE INSERT ON holdfast.memories"
        " FOR EACH ROW EXECUTE FUNCTION public.fail()"
    )
    try:
        assert through(place.programs)("Once").done
        with psycopg.connect(place.owner) as connection:
            assert connection.execute("SELECT last_value FROM public.times").fetchone() == (2,)
    finally:
        place.run("DROP FUNCTION public.fail CASCADE; DROP SEQUENCE public.times")
    assert place.there() == ["The first one", "Once"]


@contextmanager
def _stranger(place: Place, *, in_no_hurry: bool = False) -> Iterator[Stranger]:
    slow = {"options": "-c deadlock_timeout=1min"} if in_no_hurry else {}
    stranger = Stranger(url_of(place.owner, **slow))
    stranger.hold()
    try:
        yield stranger
    finally:
        stranger.close()


# A server of its own


@pytest.fixture(scope="module")
def own_server() -> Server:
    """To be stopped, and to be filled."""
    return spare_server()


@pytest.fixture
def own_place(
    own_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "place"))
    url = own_server.url("postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS holdfast CASCADE")
    PostgresStore(url, partitions=1).close()
    yield Place("postgres", url, url)


@pytest.mark.parametrize("how", ["SIGINT", "SIGQUIT"])
def test_a_server_that_is_restarted_in_mid_write_is_waited_for(
    own_server: Server, own_place: Place, tmp_path: Path, client: TestClient, how: str
) -> None:
    """In order (`fast`) and at once (`immediate`); through all three edges at a time."""
    settings = {**SETTINGS, "store.url": own_place.programs}
    with open_memory(tmp_path / "a", settings=settings) as memory, ExitStack() as stack:
        asked = {
            "By the library": library(memory),
            "By a command": command_line(own_place.programs, tmp_path / "b"),
            "By REST": rest(client, memory, own_place.key),
        }
        stranger = Stranger(own_place.owner)
        stack.callback(stranger.close)
        stranger.hold()
        answers = [stack.enter_context(answering(ask, text)) for text, ask in asked.items()]
        stranger.waiting(len(answers))
        own_server.stop(how)
        own_server.start()
        assert [came for answer in answers if not (came := answer()).done] == []
        assert memory.core.store.check() == []
    assert own_place.there()[0] == "The first one"
    assert sorted(own_place.there()[1:]) == sorted(asked)


def test_a_command_that_comes_while_the_server_is_away_waits_for_it(
    own_server: Server, own_place: Place, tmp_path: Path
) -> None:
    own_server.stop()
    with answering(command_line(own_place.programs, tmp_path), "Once") as answer:
        threading.Event().wait(0.7)
        own_server.start()
        assert answer().done
    assert own_place.there() == ["The first one", "Once"]


def test_a_server_that_is_stuck_is_given_up(
    own_server: Server, own_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not hang up, and its own limits are as stuck as it is."""
    for name in ("_STOP_WAIT_S", "_BEGIN_WAIT_S", "RECONNECT_WAIT_S"):
        monkeypatch.setattr(f"holdfast.store.postgres.connections.{name}", 0.3)
    monkeypatch.setattr("holdfast.api.perform._RETRY_READS_S", 0.3)
    url = url_of(own_place.programs, connect_timeout="2")
    settings = {**SETTINGS, "store.url": url, "recall.deadline_s": 0.2}
    with open_memory(tmp_path, settings=settings) as memory:
        hub = memory.hub("plans")
        assert len(hub.recall("first")) == 1
        with (
            pytest.raises(ServerUnreachable, match="stopped answering"),
            # Freezing takes a while on a busy machine, and must be done before the deadline.
            memory.core.store.read(deadline_s=1.0) as reader,
            own_server.frozen(),
        ):
            reader.statistics(hub.id)
        with own_server.frozen(), pytest.raises(ServerUnreachable):
            hub.recall("first")
        assert len(hub.recall("first")) == 1


@pytest.fixture
def small_disk(own_server: Server) -> Iterator[Place]:
    """A database on a disk of its own, which is nearly full."""
    folder = own_server.folder / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, check=False)
    if mounted.returncode != 0:
        folder.rmdir()
        pytest.skip("a small disk is made by root alone, where mounting is allowed")
    shutil.chown(folder, own_server.folder.owner())
    admin = own_server.url("postgres")
    try:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")
            connection.execute("CREATE DATABASE small TABLESPACE small TEMPLATE template0")
        url = own_server.url("small")
        PostgresStore(url, partitions=1).close()
        yield Place("small", url, url)
    finally:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute("DROP DATABASE IF EXISTS small WITH (FORCE)")
            connection.execute("DROP TABLESPACE IF EXISTS small")
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_of_the_server_is_reported_and_nothing_is_half_written(
    small_disk: Place, tmp_path: Path, client: TestClient
) -> None:
    told = Told("StoreFull", "has no room left", "store_full", 6, 507, "store_full", later=False)
    settings = {**SETTINGS, "store.url": small_disk.programs}
    small_disk.run("CREATE TABLE public.ballast (filling text)")
    small_disk.run("ALTER TABLE public.ballast ALTER filling SET STORAGE EXTERNAL")
    with open_memory(tmp_path / "a", settings=settings) as memory:
        asks = (
            library(memory),
            command_line(small_disk.programs, tmp_path / "b"),
            rest(client, memory, small_disk.key),
        )
        # Blocks of 8 kB, until there is no room for one more.
        fill = "INSERT INTO public.ballast SELECT repeat('x', {0}) FROM generate_series(1, 100)"
        for size in (80_000, 8_000):
            with pytest.raises(psycopg.errors.DiskFull):
                while True:
                    small_disk.run(fill.format(size))
        large = "\n\n".join(f"Line {n} of what is too much" for n in range(3000))
        for ask in asks:
            told.of(ask(large))
        assert small_disk.there() == ["The first one"]
        assert len(memory.hub("plans").list()) == 1
        small_disk.run("DROP TABLE public.ballast")
        small_disk.run("CHECKPOINT")
        for ask in asks:
            assert ask(large).done
        # The same text is the same memory, whoever says it.
        assert small_disk.there() == ["The first one", large]
        assert memory.core.store.check() == []
