"""The MCP server: tools, resources and prompts of one hub, over stdio or streamable HTTP.

Every module here imports the SDK, which takes longer to load than the rest of a REST server, so
none is imported before it is asked for. What a server has to know before the first agent comes
is here: names of headers, the path, how large a body may be."""

from __future__ import annotations

PATH = "/mcp"
# As the SDK spells them; a test compares them.
SESSION_ID_HEADER = "mcp-session-id"
PROTOCOL_VERSION_HEADER = "mcp-protocol-version"
# More than the longest call that is answered, so that a call that is too long gets a sentence from
# the tool, which a model reads, and only what is far too long an error of HTTP.
BODY_BYTES_MAX = 32_000_000


def has_sessions(version: str | None) -> bool:
    """Whether a client of this version of the protocol starts a session. One that names no version
    does."""
    if version is None:
        return True
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    return version in HANDSHAKE_PROTOCOL_VERSIONS
