"""The proxy: it forwards requests of the OpenAI and Anthropic APIs to the endpoint behind it, adds
what is remembered to their prompts, and logs what was said. Memory fails open: a request is
forwarded as it came where memory cannot be asked, and `holdfast doctor` shows why."""
