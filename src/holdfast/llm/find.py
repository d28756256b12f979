"""From the words of a setting to a language model.

The only place that names the protocols; it imports the client of the one that was asked for, and no
other. It knows nothing of settings files, and reads no key: a client does that when it asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import InvalidSetting, extra_requirement

if TYPE_CHECKING:
    from holdfast.llm.base import Model

FORMS = "openai:MODEL, openai:MODEL@URL, anthropic:MODEL, anthropic:MODEL@URL, or none"
PROTOCOLS = ("openai", "anthropic")
KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
# This machine itself.
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")


class Spec(NamedTuple):
    """What a setting says: a protocol, a model's name, and where it is served ('' for the official
    address)."""

    protocol: str
    model: str
    url: str
    host: str

    @property
    def name(self) -> str:
        """As usage and errors show it."""
        return f"{self.protocol}:{self.model}" + (f"@{self.url}" if self.url else "")

    @property
    def is_local(self) -> bool:
        """Whether it is served by this machine, where no key is needed."""
        return self.host in LOOPBACK_HOSTS


def parse(text: str) -> Spec | None:
    """A setting taken apart; None where it names no model."""
    text = text.strip()
    if text in ("", "none"):
        return None
    protocol, _, rest = text.partition(":")
    # A model's name may hold an @, so the URL is found by how it starts.
    model, at, tail = rest.partition("@http")
    if protocol not in PROTOCOLS or not model or (not at and "://" in model):
        raise _bad(text)
    if not (model.isascii() and model.isprintable()) or " " in model:
        raise _bad(text)
    url, host = _address(f"http{tail}") if at else ("", "")
    return Spec(protocol, model, url, host)


def key_variable(spec: Spec, named: str) -> str:
    """The environment variable that holds the key: the one a setting names, or the usual one."""
    return named.strip() or KEY_VARIABLES[spec.protocol]


def find_model(name: str, *, key_variable_named: str = "") -> Model | None:
    """The model that a setting names; None where it names none. Making one sends nothing."""
    spec = parse(name)
    if spec is None:
        return None
    from holdfast.llm.endpoint import Endpoint

    named = bool(key_variable_named.strip())
    endpoint = Endpoint(spec, key_variable(spec, key_variable_named), key_named=named)
    if spec.protocol == "openai":
        from holdfast.llm.openai_compatible import OpenAICompatibleModel

        return OpenAICompatibleModel(endpoint)
    from holdfast.llm.anthropic_messages import AnthropicModel

    return AnthropicModel(endpoint)


def describe(name: str, key_variable_named: str, environment: Mapping[str, str]) -> str:
    """A model and whether its key is there, in words; never the key itself."""
    spec = parse(name)
    if spec is None:
        return "none"
    if not has_sdk(spec.protocol):
        return f"{spec.name} (needs `pip install {extra_requirement('llm')}`)"
    variable = key_variable(spec, key_variable_named)
    if environment.get(variable, "").strip() and (key_variable_named.strip() or not spec.is_local):
        return f"{spec.name} (its key is in {variable})"
    if spec.is_local:
        return f"{spec.name} (on this machine, which needs no key)"
    return f"{spec.name} (its key is missing: {variable} is not set here)"


def has_sdk(protocol: str) -> bool:
    """Whether what speaks this protocol is installed; nothing is imported."""
    from importlib.util import find_spec

    return find_spec(protocol) is not None


def _bad(text: str) -> InvalidSetting:
    # An URL in the setting may hold a password; only what stands before it is repeated.
    shown = text.partition("@")[0][:80]
    return InvalidSetting(f"The language model {shown!r} is not known.", hint=f"Use {FORMS}.")


def _address(url: str) -> tuple[str, str]:
    """The URL without a slash at its end, and its host; one that cannot be used is a bad
    setting."""
    from urllib.parse import urlsplit

    form = "It looks like http://localhost:11434/v1; the key goes into an environment variable."
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InvalidSetting("The URL of the language model is broken.", hint=form) from None
    if parts.username or parts.password:
        raise InvalidSetting("The URL of a language model must not hold a password.", hint=form)
    shown = f"{parts.scheme}://{parts.netloc}{parts.path}"  # a key may stand in the query
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise InvalidSetting(f"{shown!r} is not the URL of a language model.", hint=form)
    if not (shown.isascii() and shown.isprintable() and " " not in shown):
        raise InvalidSetting(f"{shown!r} has characters that an URL cannot have.", hint=form)
    return shown.rstrip("/"), host
