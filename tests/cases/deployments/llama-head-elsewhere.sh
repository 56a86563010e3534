#!/bin/sh
docker run --rm --gpus all -v /models:/models ghcr.io/ggml-org/llama.cpp:server-cuda-b11434 \
  -m /models/Qwen3.8-27B-Q4_K_M.gguf --spec-type draft-mtp --spec-draft-n-max 3 \
  -dev CUDA0 -devd CUDA1 -c 16384 -np 1 --metrics
