"""REST over HTTP: requests into calls, results into JSON. It decides nothing: who may do what,
`holdfast.api.caller` says."""
