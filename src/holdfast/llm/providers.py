"""The table of services that speak OpenAI's protocol: where each is, and which environment variable
holds its key. One that is not in it is named with its URL."""

from __future__ import annotations

import re
from typing import NamedTuple

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")


class Provider(NamedTuple):
    """A service. '' as its URL is the official address of its protocol."""

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
    """Whether it can be a provider's name."""
    return _NAME.fullmatch(text) is not None
