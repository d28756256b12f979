"""Where the world meets the engine: each edge parses, calls, renders, and decides nothing."""
