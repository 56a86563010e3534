# syntax=docker/dockerfile:1
ARG VLLM_VERSION=v0.33.0
FROM docker.io/vllm/vllm-openai:${VLLM_VERSION} AS base
ENV HF_HUB_OFFLINE=1 \
    VLLM_LOG_STATS_INTERVAL=5

FROM base
COPY --chown=root:root chat.jinja /app/
CMD ["/models/Qwen3.8-27B-W4A16", \
     "--max-num-seqs", "8", \
     "--speculative-config", "{\"method\": \"mtp\", \"num_speculative_tokens\": 2}"]
