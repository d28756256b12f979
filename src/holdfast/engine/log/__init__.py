"""The conversation log: turns, what is logged and for how long, observed turns, and forgetting."""
