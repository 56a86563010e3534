"""The version, read by the build and by the command line without importing anything else."""

__version__ = "0.1.0"
