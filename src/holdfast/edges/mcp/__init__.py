"""The MCP server: tools, resources and prompts of one hub, over stdio or streamable HTTP.

Every other module here imports the SDK, which takes longer to load than the rest of a REST server,
so none is imported before it is needed. This module has what a server needs before the first agent
connects: header names, the path, the largest body."""

from __future__ import annotations

PATH = "/mcp"
# As the SDK spells them; a test compares them.
SESSION_ID_HEADER = "mcp-session-id"
PROTOCOL_VERSION_HEADER = "mcp-protocol-version"
# More than the longest accepted call, so that a call that is too long gets a message from the tool,
# which a model reads, and only one that is far too long gets an HTTP error.
BODY_BYTES_MAX = 32_000_000


def has_sessions(version: str | None) -> bool:
    """Whether a client of this version of the protocol starts a session. One that names no version
    does."""
    if version is None:
        return True
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    return version in HANDSHAKE_PROTOCOL_VERSIONS
