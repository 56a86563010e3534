#!/bin/bash
CUDA_VISIBLE_DEVICES=0,1 /opt/ik_llama.cpp/build/bin/llama-server \
    -m /models/GLM-4.7-IQ4_K.gguf \
    -c 32768 -np 1 -fmoe -amb 512 \
    --spec-type mtp:n_max=2 \
    --host 127.0.0.1 --port 8082
