#!/bin/bash
# Written for a build of 2025.
export LLAMA_ARG_MODEL_DRAFT=/models/draft.gguf
nohup /usr/local/bin/llama-server \
  -m /models/target.gguf \
  -md /models/draft.gguf --draft-max 16 --draft-min 4 \
  -cd 4096 -devd CUDA1 \
  --spec-type draft \
  > server.log 2>&1 &
echo "pid $!"
