#!/bin/bash
# One container with an EAGLE-3 head
HF_TOKEN=hf_QmVzdE5vdEFSZWFsVG9rZW4x
docker run -d --name llm --restart unless-stopped \
  --gpus '"device=0,1"' --ipc=host -p 8000:8000 \
  -v /data/hf:/root/.cache/huggingface \
  -e HF_TOKEN="$HF_TOKEN" -e VLLM_LOGGING_LEVEL=INFO \
  docker.io/vllm/vllm-openai:v0.33.0 \
  --model meta-llama/Llama-3.3-70B-Instruct \
  --tensor-parallel-size 2 \
  --max-num-seqs 16 \
  --speculative-config '{"method": "eagle3", "model": "yuhuili/EAGLE3-LLaMA3.3-Instruct-70B", "num_speculative_tokens": 3}'
