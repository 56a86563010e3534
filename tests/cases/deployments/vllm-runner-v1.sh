#!/bin/sh
export VLLM_USE_V2_MODEL_RUNNER=0
vllm serve Qwen/Qwen3.8-27B --tensor-parallel-size 4 --max-model-len 65536 \
  --max-num-seqs 256 --max-num-batched-tokens 2048 --enforce-eager --disable-log-stats \
  --speculative-config '{"method": "dspark", "model": "z-lab/Qwen3.8-27B-DSpark", "num_speculative_tokens": 15,
                         "draft_tensor_parallel_size": 2, "draft_device": "cuda:4"}'
