"""`python -m specrules`."""

from specrules.cli.main import main

if __name__ == "__main__":
    main()
