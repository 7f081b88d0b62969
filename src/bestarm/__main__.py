from bestarm.cli import main

main()
