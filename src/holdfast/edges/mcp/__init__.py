"""The MCP server: tools, resources and prompts of one hub, over stdio or streamable HTTP.

Needs the extra `mcp`. Every module here imports the SDK, so none is imported before it is asked
for.
"""
