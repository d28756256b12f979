"""The memory tool of the Anthropic SDK, in its oldest and newest version: the same tests as for the
version of the development environment."""

from tests.unit.adapters.test_anthropic_memory import *  # noqa: F403
