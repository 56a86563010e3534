"""Deployment files to launches, and launches to deployments of an engine.

from specrules.evidence.deployments import read_launches, recognise
"""

from specrules.evidence.deployments.reading import LaunchReading, read_launches, read_launches_text
from specrules.evidence.deployments.recognise import recognise

__all__ = ["LaunchReading", "read_launches", "read_launches_text", "recognise"]
