"""The library's public classes: an open memory, its hubs, their operations, and callers."""
