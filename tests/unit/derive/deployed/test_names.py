from __future__ import annotations

import pytest

from specrules.derive.deployed.names import made_for


@pytest.mark.parametrize(
    ("head", "target", "answer"),
    [
        ("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", "meta-llama/Llama-3.1-8B-Instruct", True),
        ("yuhuili/EAGLE3-LLaMA3.3-Instruct-70B", "meta-llama/Llama-3.1-70B-Instruct", False),
        ("/models/dflash-qwen3.6-27b.gguf", "/models/Qwen3.8-27B-Q4_K_M.gguf", False),
        ("z-lab/Qwen3.8-27B-DFlash", "Qwen/Qwen3.8-27B", True),
        ("AngelSlim/Qwen3-32B_eagle3", "Qwen/Qwen3-32B-FP8", True),
        ("qwen3-30b-a3b-eagle3", "Qwen/Qwen3-30B-A3B-Instruct", True),
        ("qwen3-30b-eagle3", "Qwen/Qwen3-30B-A3B-Instruct", False),
        ("lmsys/EAGLE3-gpt-oss-120b-bf16", "openai/gpt-oss-20b", False),
        ("RedHatAI/gpt-oss-20b-speculator.eagle3", "openai/gpt-oss-20b", True),
        ("mtp-gemma-4-E4B.gguf", "gemma-4-E4B-it", True),
        ("Qwen3.8-27B-DFlash-int4", "Qwen3.8-27B-int8", True),
        ("Qwen3-8B-Instruct-v1-head", "Qwen3-8B-Instruct-2507", True),
        ("/models/head.gguf", "/models/Qwen3.8-27B.gguf", None),
        ("deepseek-ai/DeepSeek-V3-NextN", "deepseek-ai/DeepSeek-R1", None),
        ("/qwen3-8b/head.gguf", "/llama3-70b/target/q4.gguf", None),
        ("", "", None),
    ],
)
def test_what_two_names_say_about_each_other(head, target, answer):
    assert made_for(head, target) is answer


def test_a_long_name_is_read_from_its_end():
    assert made_for("x" * 10_000 + "/Qwen3.8-27B-head", "y-" * 10_000 + "Qwen3.8-27B") is True
