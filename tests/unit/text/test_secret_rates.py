"""How many secrets are redacted, and how many innocent texts are touched, on sets of examples."""

from holdfast.text import secrets
from tests.unit.text.secret_sets import innocent_examples, missed, secret_examples, touched


def redact(question: str, text: str) -> str:
    return secrets.redact(text, lambda kind, value: f"[secret:{kind}:00000000]")[0]


def test_secrets_of_the_held_out_set_are_redacted() -> None:
    assert 1 - len(missed("held_out.txt", redact)) / len(secret_examples("held_out.txt")) >= 0.37


def test_innocent_texts_of_the_held_out_set_are_not_touched() -> None:
    innocent = innocent_examples("innocent_held_out.txt")
    assert len(innocent) >= 1000
    assert len(touched("innocent_held_out.txt", redact)) / len(innocent) <= 0.01
