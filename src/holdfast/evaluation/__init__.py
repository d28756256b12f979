"""How good is recall? Reads test stores, puts them in through the public API, asks their questions,
and scores the answers next to simple baselines.

Stands above the library and knows nothing of how recall works inside.
"""
