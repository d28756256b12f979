"""What a REST server knows of MCP without the SDK is what the SDK says."""

from __future__ import annotations

import subprocess
import sys

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION

from holdfast.edges.mcp import PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER, has_sessions


def test_headers_are_spelled_as_the_sdk_spells_them() -> None:
    assert SESSION_ID_HEADER == MCP_SESSION_ID_HEADER
    assert PROTOCOL_VERSION_HEADER == MCP_PROTOCOL_VERSION_HEADER


def test_clients_of_versions_with_a_handshake_and_of_none_start_sessions() -> None:
    assert has_sessions(None)
    assert all(has_sessions(version) for version in HANDSHAKE_PROTOCOL_VERSIONS)
    assert not has_sessions(LATEST_MODERN_VERSION)


def test_a_rest_server_does_not_load_the_sdk_before_an_agent_comes() -> None:
    loaded = "[name for name in sys.modules if name.split('.')[0] in ('mcp', 'mcp_types')]"
    code = f"import sys, holdfast.edges.http.app; print({loaded})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
