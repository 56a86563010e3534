"""What a program says of its own options, and where an engine's file has drifted away from it."""
