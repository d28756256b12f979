"""How good is recall? Reads test stores, puts them in through the public API, asks their questions,
and scores the answers next to simple baselines.

Uses the public library, and knows nothing of the internals of recall.
"""
