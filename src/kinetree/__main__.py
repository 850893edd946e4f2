"""python -m kinetree: the same as the command."""

from kinetree.cli import main

main()
