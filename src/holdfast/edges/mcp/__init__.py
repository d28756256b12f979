"""The MCP server: tools, resources and prompts of one hub, over stdio or streamable HTTP.

Every module here but `protocol` imports the SDK, so none is imported before it is asked for.
"""
