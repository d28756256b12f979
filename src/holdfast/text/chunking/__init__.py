"""Chunking: cutting a text into passages. `chunk.chunk` is the entry point."""
