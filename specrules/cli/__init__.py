"""The command line: one module per command. Data goes to stdout, everything else to stderr."""
