"""REST over HTTP: converts requests to calls, and results to JSON. It decides nothing:
`holdfast.api.caller` checks permissions."""
