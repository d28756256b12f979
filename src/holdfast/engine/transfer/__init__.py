"""Export, import, and copying whole stores."""
