"""What an agent's memory tools are, in every dialect. It works on a hub through its public methods
and knows nothing of the edges that carry the calls."""
