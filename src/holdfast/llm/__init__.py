"""The contract of a language model: a system prompt and messages in, text or tool calls out.

A model knows neither memories nor passes. It is asked once for each call of `ask`: rounds, caps and
what a tool does are the caller's business. Keys come from the environment and are never part of a
value here.

Also leads from the value of a setting to a model, with the table of services that speak OpenAI's
protocol: their URLs, and which environment variable holds the key. A service that is not in it is
named with its URL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from holdfast.errors import InvalidSetting, extra_requirement


class ModelTool(NamedTuple):
    """A tool as a model sees it; `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


class ModelCall(NamedTuple):
    """A model asks for a tool. The arguments are as the model wrote them, which may be no JSON."""

    id: str
    name: str
    arguments: str


class Message(NamedTuple):
    """One message of a talk. An assistant's may hold calls; a tool's answers the call it names."""

    role: Literal["user", "assistant", "tool"]
    text: str
    calls: tuple[ModelCall, ...] = ()
    answers: str = ""


class Usage(NamedTuple):
    """The usage of a model: requests, and tokens as the server counted them."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


class Answer(NamedTuple):
    """The answer of a model, and its cost."""

    text: str
    calls: tuple[ModelCall, ...] = ()
    usage: Usage = Usage(1)


class Model(Protocol):
    """Safe to call from several threads; whatever goes wrong is a ModelError."""

    @property
    def name(self) -> str: ...

    def ask(
        self,
        system: str,
        messages: Sequence[Message],
        *,
        tools: Sequence[ModelTool] = (),
        tokens_max: int,
        timeout_s: float,
    ) -> Answer:
        """One request, with the retries that are safe within the time; a cut-off answer is an
        answer."""
        ...


_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")


class Provider(NamedTuple):
    """A service with language models. '' as its URL is the official address of its protocol."""

    protocol: str
    url: str
    key_variable: str


# As each service documents it, in November 2026.
PROVIDERS = {
    "openai": Provider("openai", "", "OPENAI_API_KEY"),
    "anthropic": Provider("anthropic", "", "ANTHROPIC_API_KEY"),
    "xai": Provider("openai", "https://api.x.ai/v1", "XAI_API_KEY"),
    "gemini": Provider(
        "openai", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"
    ),
    "mistral": Provider("openai", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "deepseek": Provider("openai", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "groq": Provider("openai", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "cerebras": Provider("openai", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    "together": Provider("openai", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "fireworks": Provider("openai", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    "openrouter": Provider("openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "ollama": Provider("openai", "http://localhost:11434/v1", ""),
    "lmstudio": Provider("openai", "http://localhost:1234/v1", ""),
    "llamacpp": Provider("openai", "http://localhost:8080/v1", ""),
    "vllm": Provider("openai", "http://localhost:8000/v1", ""),
}


def key_variable_of(provider: str) -> str:
    """The variable with a provider's key: that of the table, or one made of its name."""
    known = PROVIDERS.get(provider)
    if known is not None and known.key_variable:
        return known.key_variable
    return f"{provider.upper().replace('-', '_')}_API_KEY"


def is_name(text: str) -> bool:
    """Whether a text can be the name of a provider of language models."""
    return _NAME.fullmatch(text) is not None


FORMS = (
    "PROVIDER/MODEL (such as xai/grok-4), PROVIDER/MODEL@URL, openai:MODEL, openai:MODEL@URL,"
    " anthropic:MODEL, anthropic:MODEL@URL, or none"
)
PROTOCOLS = ("openai", "anthropic")
KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
# This machine itself.
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")


class Spec(NamedTuple):
    """A parsed setting: the protocol, the model's name, its address (empty for the official one),
    and the provider if one was named."""

    protocol: str
    model: str
    url: str
    host: str
    provider: str = ""

    @property
    def name(self) -> str:
        """The name in usage and errors."""
        if self.provider:
            known = PROVIDERS.get(self.provider)
            usual = known is not None and known.url == self.url
            return f"{self.provider}/{self.model}" + ("" if usual else f"@{self.url}")
        return f"{self.protocol}:{self.model}" + (f"@{self.url}" if self.url else "")

    @property
    def is_local(self) -> bool:
        """Whether it is served by this machine, where no key is needed."""
        return self.host in LOOPBACK_HOSTS


def parse(text: str, *, inherit: str = "") -> Spec | None:
    """A setting taken apart; None if it names no model. `inherit` is another setting: a name
    without a provider is a model of the service that it names."""
    text = text.strip()
    if text in ("", "none"):
        return None
    if (spec := _of_protocol(text) or _of_provider(text)) is not None:
        return spec
    base = parse(inherit)
    if base is None or not _is_model(text) or ":" in text.partition("/")[0]:
        raise _bad(text)
    return base._replace(model=text)


def _of_protocol(text: str) -> Spec | None:
    """`openai:MODEL` and the like."""
    protocol, _, rest = text.partition(":")
    if protocol not in PROTOCOLS:
        return None
    model, url, host = _model_and_address(rest)
    if not _is_model(model):
        raise _bad(text)
    return Spec(protocol, model, url, host)


def _of_provider(text: str) -> Spec | None:
    """`PROVIDER/MODEL`, of the table or with a URL; None if the provider is neither."""
    provider, slash, rest = text.partition("/")
    if not slash or not is_name(provider):
        return None
    model, url, host = _model_and_address(rest)
    known = PROVIDERS.get(provider)
    if known is None and not url:
        return None
    if not _is_model(model):
        raise _bad(text)
    if not url and known is not None and known.url:
        url, host = _address(known.url)
    return Spec(known.protocol if known else "openai", model, url, host, provider)


def _model_and_address(text: str) -> tuple[str, str, str]:
    """A model's name, and the URL behind it with its host."""
    # A model's name may hold an @, so the URL is found by how it starts.
    model, at, tail = text.partition("@http")
    return (model, *_address(f"http{tail}")) if at else (model, "", "")


def _is_model(name: str) -> bool:
    fits = bool(name) and name.isascii() and name.isprintable()
    return fits and " " not in name and "://" not in name


def key_variable(spec: Spec, named: str) -> str:
    """The environment variable that holds the key: the one a setting names, or the usual one."""
    if named.strip():
        return named.strip()
    return key_variable_of(spec.provider) if spec.provider else KEY_VARIABLES[spec.protocol]


def _named_for(spec: Spec, named: str, inherit: str) -> str:
    """The variable that a setting names, where it is meant for this model. It holds the key of the
    service in `inherit`, which is not for another provider."""
    base = parse(inherit) if spec.provider else None
    if base is not None and (base.protocol, base.url) != (spec.protocol, spec.url):
        return ""
    return named.strip()


def find_model(name: str, *, inherit: str = "", key_variable_named: str = "") -> Model | None:
    """The model that a setting names; None if it names none. Making one sends nothing."""
    spec = parse(name, inherit=inherit)
    if spec is None:
        return None
    from holdfast.llm.endpoint import Endpoint

    named = _named_for(spec, key_variable_named, inherit)
    endpoint = Endpoint(spec, key_variable(spec, named), key_named=bool(named))
    from holdfast.llm.protocols import AnthropicModel, OpenAICompatibleModel

    model = OpenAICompatibleModel if spec.protocol == "openai" else AnthropicModel
    return model(endpoint)


def describe(
    name: str, key_variable_named: str, environment: Mapping[str, str], *, inherit: str = ""
) -> str:
    """A model and whether its key is there, in words; never the key itself."""
    spec = parse(name, inherit=inherit)
    if spec is None:
        return "none"
    if not has_sdk(spec.protocol):
        return f"{spec.name} (needs `pip install {extra_requirement('llm')}`)"
    named = _named_for(spec, key_variable_named, inherit)
    variable = key_variable(spec, named)
    if environment.get(variable, "").strip() and (named or not spec.is_local):
        return f"{spec.name} (its key is in {variable})"
    if spec.is_local:
        return f"{spec.name} (on this machine, which needs no key)"
    return f"{spec.name} (its key is missing: {variable} is not set here)"


def has_sdk(protocol: str) -> bool:
    """Whether what speaks this protocol is installed; nothing is imported."""
    from importlib.util import find_spec

    return find_spec(protocol) is not None


def _bad(text: str) -> InvalidSetting:
    # A URL in the setting may hold a password; only the part before it is repeated.
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
    shown = f"{parts.scheme}://{parts.netloc}{parts.path}"  # a key may be in the query
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise InvalidSetting(f"{shown!r} is not the URL of a language model.", hint=form)
    if not (shown.isascii() and shown.isprintable() and " " not in shown):
        raise InvalidSetting(f"{shown!r} has characters that an URL cannot have.", hint=form)
    return shown.rstrip("/"), host
