"""`python -m fabricdoctor`."""

from .cli import main

main()
