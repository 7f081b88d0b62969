import sys

from bestarm.build import client

if (code := client.ask(sys.argv[1:])) is not None:
    sys.exit(code)

from bestarm.cli import main

main()
