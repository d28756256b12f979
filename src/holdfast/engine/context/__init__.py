"""The block of memory that is injected into an agent's prompt."""
