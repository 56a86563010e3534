"""Running servers: asking them what they are, and measuring them politely.

`http` is the one way out: every request has its limits, and no token is shown. `probes` and `recognise` ask what a
server is and whether it drafts, as the engine files say; `measuring` times requests; `agreement` compares two models;
`sketch` writes the case that all of it leads to.
"""
