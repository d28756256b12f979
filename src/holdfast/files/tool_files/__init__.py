"""Files that an agent edits through a memory tool, kept in sync with their memories."""
