"""Where memories are kept: one contract (base), and a folder or file for each way to keep it."""
