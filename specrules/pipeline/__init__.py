"""The public functions that join the parts: `triage.triage`, a case to a verdict, and `reading.read`, a file to facts.

Nothing is imported here, so that reading a file does not load the arithmetic.
"""
