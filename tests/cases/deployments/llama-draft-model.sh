#!/usr/bin/env bash
# Serves the 27B with a small model of the same family that drafts for it.
set -euo pipefail

MODELS=/srv/models
PORT=${PORT:-8080}
SLOTS=1

ARGS=(
  --model "$MODELS/Qwen3.8-27B-Q4_K_M.gguf"
  --ctx-size 16384
  --parallel "$SLOTS"
  --metrics
)
DRAFT=(
  --spec-type draft-simple          # -md alone does not draft
  --spec-draft-model "$MODELS/Qwen3.8-0.6B-Q8_0.gguf"
  --spec-draft-n-max 5
)

cd /opt/llama.cpp
exec numactl --cpunodebind=0 --membind=0 \
  ./build/bin/llama-server "${ARGS[@]}" "${DRAFT[@]}" \
    --host 0.0.0.0 --port "$PORT" --api-key "sk-local-1234567890abcdef" >>/var/log/llama.log 2>&1
