"""The replication site: every target beside its claims, as static pages without a server.

`build` makes the pages from the kept targets and the project's own texts and code; it knows no
paper. The pages need nothing from outside and work when opened as files.
"""
