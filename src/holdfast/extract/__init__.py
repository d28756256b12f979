"""Text out of files and pages. What is hostile is read in a process of its own, with limits: `run`
starts it, `child` is what runs there, and the other modules each read one family of files."""
