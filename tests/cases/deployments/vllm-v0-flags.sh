# flags of 2024 on a server of 2026
pip install "vllm==0.32.0"
python3 -m vllm.entrypoints.openai.api_server \
    --model facebook/opt-6.7b \
    --speculative_model facebook/opt-125m \
    --num_speculative_tokens 5 --max_num_seqs=8
