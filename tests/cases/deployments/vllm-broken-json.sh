#!/bin/bash
# Both are refused at start: single quotes are no JSON, and neither is a comma before the end.
vllm serve Qwen/Qwen3-8B --speculative-config "{'method': 'ngram', 'num_speculative_tokens': 4}" &
vllm serve Qwen/Qwen3-8B --port 8001 \
  --speculative-config '{
    "method": "ngram",
    "num_speculative_tokens": 4,
  }'
