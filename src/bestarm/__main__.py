import sys

from bestarm.pipeline import served

if (code := served.ask(sys.argv[1:])) is not None:
    sys.exit(code)

from bestarm.cli import main

main()
