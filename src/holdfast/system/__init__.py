"""What every layer may use of the operating system and the network: atomic file writes, and pauses
between attempts. Knows nothing of memories."""
