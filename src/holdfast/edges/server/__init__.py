"""Shared by the HTTP servers: sockets and signals, the protocol and its limits, cross-origin
rules, threads for calls, the key file, and the worker beside a server."""
