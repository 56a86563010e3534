#!/bin/sh
# The target on a card of one vendor, the drafter on one of the other.
exec llama-server -m /models/Qwen3.8-27B-Q4_K_M.gguf -dev CUDA0 -c 8192 -np 2 --metrics \
  -md /models/Qwen3.8-0.6B-Q8_0.gguf --spec-type draft-simple -devd ROCm0 --spec-draft-n-max 12
