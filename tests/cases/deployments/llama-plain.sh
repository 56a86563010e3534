#!/bin/sh
exec llama-server -m /models/Qwen3.8-27B-Q4_K_M.gguf -c 32768 -np 4 --metrics --host 0.0.0.0
