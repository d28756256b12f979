"""The library's public classes: an open memory, its hubs, the operations of a hub, callers."""
