"""MEMORY.md: its format, and keeping it and the store in sync."""
