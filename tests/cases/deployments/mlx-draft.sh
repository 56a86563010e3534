#!/bin/zsh
uv run mlx_lm.server --model mlx-community/Qwen3-14B-4bit --draft-model mlx-community/Qwen3-0.6B-4bit --num-draft-tokens 3 --port 8090
