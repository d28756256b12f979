"""Secrets are found in the places people leave them, and clean text is left alone."""

from __future__ import annotations

from base64 import b64encode
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.secrets import PLACEHOLDER, find, named_secret, placeholders, redact
from holdfast.text.secrets.rules import RULES
from tests.growth import assert_time_grows
from tests.unit.text.secret_corpus import TRICKY, Draw, clean_lines, secrets

RECALL_MIN = 0.95
PRECISION_MIN = 0.98


def covered(text: str, secret: str) -> bool:
    """Whether nothing of the secret is left but a mark at its end."""
    begin = text.index(secret)
    return any(one.start <= begin and one.end >= begin + len(secret) - 1 for one in find(text))


def test_the_labelled_corpus_is_found_and_clean_lines_are_left_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    labelled = list(secrets())
    clean = clean_lines()
    kinds = {one.kind for one in labelled}
    assert len(labelled) >= 300
    assert len(kinds) >= 40
    assert len(clean) >= 3_000
    missed = [one for one in labelled if not covered(one.text, one.secret)]
    # Each clean line with something in it counts as one false alarm.
    alarms = [line for line in clean if find(line)]
    found = len(labelled) - len(missed)
    recall, precision = found / len(labelled), found / (found + len(alarms))
    with capsys.disabled():
        print(
            f"\nsecrets: {len(labelled)} of {len(kinds)} kinds, {len(clean):,} clean lines;"
            f" recall {recall:.3f}, precision {precision:.3f}"
        )
    assert recall >= RECALL_MIN, [(one.kind, one.text[:80]) for one in missed][:20]
    assert precision >= PRECISION_MIN, alarms[:20]


def test_every_kind_of_the_corpus_is_named_as_such() -> None:
    """A placeholder that names another kind would mislead whoever looks for the secret."""
    wrong = []
    for one in secrets(seed=3, each=4):
        begin = one.text.index(one.secret)
        names = {f.kind for f in find(one.text) if f.start <= begin < f.end}
        if one.kind not in names:
            wrong.append((one.kind, names))
    assert len(wrong) <= 4, wrong


@pytest.mark.parametrize("line", TRICKY)
def test_what_only_looks_like_a_secret_is_left(line: str) -> None:
    assert find(line) == []


@pytest.mark.parametrize(
    ("line", "kind", "secret"),
    [
        ("my wifi password is bluemonkey", "password", "bluemonkey"),
        ("Our password is 'sunflower' by the way", "password", "sunflower"),
        ("The password was changed to Maple77!", "password", "Maple77!"),
        ("el PIN, I mean the pin is 4711.", "pin", "4711"),
        ("PASSWORD: hunter2x", "password", "hunter2x"),
        ('password: str = "hunter2x"', "password", "hunter2x"),
        (r"{\"password\": \"hunter2x\"}", "password", "hunter2x"),
        ("login?user=ana&password=hunter2x&next=/", "password", "hunter2x"),
        ("tool --password hunter2x --verbose", "password", "hunter2x"),
        ("İstanbul: password = 'hunter2x'", "password", "hunter2x"),
        ("redis://:hunter@cache:6379", "database-password", "hunter"),
        ("https://ana:hunter2@git.acme.io/x.git", "url-password", "hunter2"),
    ],
)
def test_a_secret_told_by_its_name_is_found_to_the_letter(
    line: str, kind: str, secret: str
) -> None:
    assert [(one.kind, line[one.start : one.end]) for one in find(line)] == [(kind, secret)]


def test_a_key_that_was_cut_off_is_found() -> None:
    key = Draw(1).pem()
    (found,) = find(f"see\n{key[:200]}")
    assert found.kind == "private-key"
    assert found.end == 204


def test_a_key_in_a_line_of_json_is_found_whole() -> None:
    key = Draw(1).pem().replace("\n", "\\n")
    text = f'{{"type": "service_account", "private_key": "{key}"}}'
    assert [text[one.start : one.end] for one in find(text)] == [key]


def test_a_token_is_found_in_escaped_markdown() -> None:
    token = "ghp_" + Draw(4).alnum(36)
    escaped = "a\\_b " + token.replace("_", "\\_") + " c\\_d"
    given = []
    text, _ = redact(escaped, lambda kind, secret: given.append(secret) or "[x]")
    assert text == "a\\_b [x] c\\_d"
    assert given == [token]


def test_a_name_in_a_dictionary_gives_its_value_away() -> None:
    assert named_secret("password", "hunter2x") == "password"
    assert named_secret("db_password", "hunter2x") == "password"
    assert named_secret("api_key", Draw(2).alnum(32)) == "api-key"
    assert named_secret("password", "${DB_PASSWORD}") == ""
    assert named_secret("colour", "hunter2x") == ""


def test_a_redacted_text_says_what_was_there_and_holds_nothing_of_it() -> None:
    token = "ghp_" + Draw(5).alnum(36)
    text, kinds = redact(f"use {token}, then {token}", lambda kind, _: f"[secret:{kind}:0a1b2c3d]")
    assert text == "use [secret:github-token:0a1b2c3d], then [secret:github-token:0a1b2c3d]"
    assert kinds == ["github-token", "github-token"]
    assert placeholders(text) == {"github-token": 2}


def test_what_is_allowed_stays() -> None:
    token = "ghp_" + Draw(5).alnum(36)
    assert redact(token, lambda kind, secret: None) == (token, [])


def test_redacting_twice_changes_nothing_more() -> None:
    for one in secrets(seed=9, each=4):
        once, _ = redact(one.text, lambda kind, _: f"[secret:{kind}:0a1b2c3d]")
        assert one.secret not in once
        assert redact(once, lambda kind, _: "again") == (once, []), one.kind


@given(st.text(max_size=300), st.sampled_from([rule.cues[0] for rule in RULES]))
def test_what_is_found_lies_in_the_text_in_order(text: str, cue: str) -> None:
    found = find(f"{text}{cue}{text}")
    assert all(one.start < one.end for one in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@pytest.mark.parametrize(
    "piece",
    [
        "password = ",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "eyJ",
        "eyJaaaaaaaaaaaaaaaa.",
        "https://a:",
        "bearer aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "curl -u ",
        "my password for the ",
        "aws secret key ",
        "M" * 20 + ".",
        "xoxb-",
    ],
)
def test_a_hostile_text_takes_no_longer_than_its_length_allows(piece: str) -> None:
    """Ten times the text may take some thirty times as long, and not a thousand."""

    find(piece * 10)
    short, long = (piece * (chars // len(piece)) for chars in (10_000, 100_000))
    assert_time_grows(find, short, long, allowed_s=lambda short_s: max(short_s, 0.001) * 60)


def test_placeholders_have_one_form() -> None:
    assert PLACEHOLDER.fullmatch("[secret:github-token:0a1b2c3d]")
    assert not PLACEHOLDER.fullmatch("[secret:github-token:0a1b2c3]")


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-" + "Ab12Cd34Ef56Gh78Ij90Kl12Mn34",
        "sk-ant-api03-" + "q7Rt2LmX9vB4kZ8wN1cY5dHs",
    ],
)
def test_a_key_of_a_known_service_is_found_when_it_is_shorter_than_usual(key: str) -> None:
    assert [found.kind for found in find(f"my key is {key} by the way")] in (
        ["openai-key"],
        ["anthropic-key"],
    )


def test_a_placeholder_with_the_prefix_of_a_service_is_no_key() -> None:
    assert find("set OPENAI_API_KEY to sk-proj-your-key-goes-here-please") == []


@pytest.mark.parametrize("front", ["api_key=", "Authorization: Bearer ", "password: ", "token = "])
@pytest.mark.parametrize("size_bytes", [30, 600, 3_000])
def test_base_64_of_random_bytes_is_found_whole(front: str, size_bytes: int) -> None:
    """Slashes do not make it a path, nor `todo` in the middle an example, however long it is."""
    random = Random(size_bytes)
    for _ in range(60):
        secret = b64encode(random.randbytes(size_bytes)).decode()
        assert covered(f"{front}{secret}\n", secret)


def test_a_long_key_is_no_example_for_four_letters_in_it() -> None:
    lines = [b64encode(Random(at).randbytes(48)).decode() for at in range(50)]
    for word in ("xxxx", "Todo", "FAKE"):
        lines[7] = f"{lines[7][:20]}{word}{lines[7][24:]}"
        text = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"])
        assert covered(text, text)


def test_a_private_key_in_base_64_is_found_and_a_certificate_is_left_alone() -> None:
    body = b64encode(Random(4).randbytes(900)).decode()
    for kind, is_secret in (("EC PRIVATE KEY", True), ("CERTIFICATE", False)):
        pem = f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----\n"
        assert bool(find(f"  entry: {b64encode(pem.encode()).decode()}\n")) is is_secret
    assert covered(f"client-key-data: {body}", body)


def test_a_token_that_goes_on_in_the_next_line_is_found_whole() -> None:
    token = "sk-proj-" + Draw(5).alnum(88)
    wide = f"The key that we use for the billing service is {token[:40]}"
    for text in (
        f"export KEY={token[:40]}\\\n  {token[40:]}\nexport HOST=example.org\n",
        f"{wide}\n{token[40:]}\nKeep it.",
    ):
        (one,) = find(text)
        assert text[: one.end].endswith(token[40:])
        assert text[one.end] == "\n"


def test_the_line_after_a_token_is_left_alone() -> None:
    token = "sk-proj-" + Draw(6).alnum(48)
    first = f"export BILLING_SERVICE_API_KEY={token}"
    for line in ("DB_HOST2=example.org", "Version2OfThePlan is better", "9f3c2a1be07d44c1"):
        (one,) = find(f"{first}\n{line}\n")
        assert one.end == len(first)


def test_a_secret_is_found_wherever_the_text_has_it_again() -> None:
    text = "password = maple77tree9\nclient('maple77tree9'), xmaple77tree9"
    assert [text[one.start : one.end] for one in find(text)] == ["maple77tree9"] * 3


@pytest.mark.parametrize(
    "text", ["api_key: Maple77Tree\nMaple77Tree()", "password=ca_certs=a,\nca_certs=a,"]
)
def test_what_may_be_a_name_is_not_replaced_all_over_a_text(text: str) -> None:
    assert len(find(text)) <= 1


def test_a_secret_is_replaced_as_it_is_written_and_known_as_what_it_means() -> None:
    meant: list[str] = []

    def placeholder(kind: str, secret: str) -> str:
        meant.append(secret)
        return "…"

    assert redact("&lt;password&gt;maple77\\_tree&lt;/", placeholder)[0] == "&lt;password&gt;…&lt;/"
    assert (
        redact("ｐａｓｓｗｏｒｄ＝ｍａｐｌｅ７７＿ｔｒｅｅ 𝛼", placeholder)[0]
        == "ｐａｓｓｗｏｒｄ＝… 𝛼"
    )
    assert redact('{\\\\"password\\\\":\\\\"maple77_tree\\\\"}', placeholder)[1]
    assert meant == ["maple77_tree"] * 3
