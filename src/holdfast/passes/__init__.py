"""What memory does by itself: the journaler after a turn, consolidation, the flush before a
compaction. Each pass proposes; what is proposed is checked by rules before it is written."""
