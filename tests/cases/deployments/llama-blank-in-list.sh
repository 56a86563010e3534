#!/bin/sh
llama-server -m /models/Qwen3.8-27B-Q4_K_M.gguf -c 8192 --metrics --spec-type "draft-mtp, ngram-mod" --spec-ngram-mod-n-min 4
