"""The interfaces to the outside: each edge parses, calls the library and renders; it decides
nothing."""
