#!/bin/sh
python3 -m sglang.launch_server \
  --model-path meta-llama/Llama-3.1-8B-Instruct \
  --speculative-algorithm EAGLE3 \
  --speculative-draft-model-path yuhuili/EAGLE3-LLaMA3.1-Instruct-8B \
  --speculative-num-steps 3 --speculative-eagle-topk 4 --speculative-num-draft-tokens 16 \
  --pp-size 2 --page-size 64 --attention-backend trtllm_mha \
  --max-running-requests 64 --cuda-graph-max-bs 32 --enable-metrics
