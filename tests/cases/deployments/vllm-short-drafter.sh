#!/bin/sh
vllm serve Qwen/Qwen3.8-27B --max-model-len 65536 --max-num-seqs 64 \
  --speculative-config '{"method": "eagle3", "model": "z-lab/Qwen3.8-27B-EAGLE3", "num_speculative_tokens": 3, "max_model_len": 8192,
                         "num_speculative_tokens_per_batch_size": [[1, 16, 3], [17, 64, 0]]}'
