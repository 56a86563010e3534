"""The smallest deployments that the gate judges, each for one outcome."""

from __future__ import annotations

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: llm}}
spec:
  containers:
    - name: server
      image: ghcr.io/ggml-org/llama.cpp:server-cuda-b11434
      args: [-m, /models/big.gguf, --metrics{more}]
"""
PLAIN = POD.format(more="")
"""No speculation at all: passes."""
OLD_FLAG = POD.format(more=', --spec-type, draft-mtp, --draft-max, "3"')
"""A flag that this version no longer has: fails."""
RENAMED = "--draft-max"
