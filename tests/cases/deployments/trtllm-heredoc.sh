#!/bin/bash
set -e
MAX_DRAFT=3
cat > /run/llm-options.yaml <<END
speculative_config:
  decoding_type: Eagle3
  max_draft_len: $MAX_DRAFT
  speculative_model: nvidia/Llama-3.3-70B-Instruct-Eagle3
enable_iter_perf_stats: true
kv_cache_config:
  enable_block_reuse: true
END
mpirun -n 1 --allow-run-as-root trtllm-serve serve meta-llama/Llama-3.3-70B-Instruct \
  --tp_size 4 --host 0.0.0.0 --extra_llm_api_options /run/llm-options.yaml
