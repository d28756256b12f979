"""The programs that start Holdfast as their MCP server: where each keeps its settings, what an
entry looks like there, and how to put one in and take it out without touching anything else.

`clients` has a row per client, `jsonc` reads JSON with comments, `json_text` and `toml_text` edit
text, `program` says what an entry starts, `settings_file` reads and writes the file, and records
which folders that made. `install_server` puts an entry into a file, `install_hooks` the hooks.
Nothing here knows the command line, and none of it opens a memory.
"""
