FROM nvidia/cuda:13.0.1-devel-ubuntu24.04
RUN apt-get update && apt-get install -y python3-pip && \
    pip install --no-cache-dir "sglang[all]==0.5.10"
ENV MODEL=deepseek-ai/DeepSeek-V4-Flash
EXPOSE 30000
ENTRYPOINT python3 -m sglang.launch_server --model-path $MODEL --host 0.0.0.0 \
    --speculative-algorithm DSPARK --speculative-dspark-block-size 4 \
    --max-running-requests 32 --enable-metrics
