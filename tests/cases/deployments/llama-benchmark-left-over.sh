#!/bin/sh
llama-server -m /models/target.gguf -md /models/small.gguf --spec-type=draft-simple \
  --spec-synth-len 3 --spec-draft-n-max 3 -c 8192 -np 1 --metrics
