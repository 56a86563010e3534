"""Samples of measured requests: one JSON line each, and the facts of their arms.

Nothing is imported here: telling a samples file from others needs none of the arithmetic.
"""
