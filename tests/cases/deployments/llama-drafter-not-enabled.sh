#!/bin/sh
# The drafter is loaded and dropped: nothing names a method.
llama-server -m /models/Qwen3.8-27B-Q4_K_M.gguf -ngl all -c 8192 -np 1 --metrics \
  -md /models/Qwen3.8-0.6B-Q8_0.gguf \
  -ngld all
