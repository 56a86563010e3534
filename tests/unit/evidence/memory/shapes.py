"""Five published shapes, down to every tensor that llama.cpp asks for, and drafters that belong to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.unit.evidence.memory.gguf_file import F32, Q4_K, Q6_K, Q8_0, Tensor, Value


@dataclass(frozen=True)
class Shape:
    """A model: its keys without the architecture in front, and its tensors."""

    name: str
    architecture: str
    keys: dict[str, Value]
    tensors: tuple[Tensor, ...]
    vocabulary: int
    extra: dict[str, Value] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, Value]:
        """The keys as the header holds them. `no_vocab` lets llama.cpp do without token texts."""
        own = {f"{self.architecture}.{key}": value for key, value in self.keys.items()}
        tokenizer = {"tokenizer.ggml.model": "no_vocab", f"{self.architecture}.vocab_size": self.vocabulary}
        return {"general.architecture": self.architecture, "general.name": self.name, **own, **tokenizer, **self.extra}


def _norm(name: str, width: int) -> Tensor:
    return (name, (width,), F32)


def _attention(block: str, width: int, heads: int, kv_heads: int, head: int, *, gated: bool = False) -> list[Tensor]:
    return [
        (f"{block}.attn_q.weight", (width, head * heads * (2 if gated else 1)), Q4_K),
        (f"{block}.attn_k.weight", (width, head * kv_heads), Q4_K),
        (f"{block}.attn_v.weight", (width, head * kv_heads), Q6_K),
        (f"{block}.attn_output.weight", (head * heads, width), Q4_K),
    ]


def _feed_forward(block: str, width: int, inner: int) -> list[Tensor]:
    down = Q8_0 if inner % 256 else Q6_K
    return [
        (f"{block}.ffn_gate.weight", (width, inner), Q4_K),
        (f"{block}.ffn_up.weight", (width, inner), Q4_K),
        (f"{block}.ffn_down.weight", (inner, width), down),
    ]


def _ends(width: int, vocabulary: int) -> list[Tensor]:
    return [
        ("token_embd.weight", (width, vocabulary), Q4_K),
        _norm("output_norm.weight", width),
        ("output.weight", (width, vocabulary), Q6_K),
    ]


def llama(layers: int, width: int, inner: int, heads: int, *, vocabulary: int = 128256) -> Shape:
    """Llama 3.1: plain grouped-query attention."""
    head, kv_heads = width // heads, 8
    tensors = _ends(width, vocabulary)
    for layer in range(layers):
        block = f"blk.{layer}"
        tensors += [_norm(f"{block}.attn_norm.weight", width), _norm(f"{block}.ffn_norm.weight", width)]
        tensors += _attention(block, width, heads, kv_heads, head) + _feed_forward(block, width, inner)
    keys: dict[str, Value] = {
        "block_count": layers,
        "context_length": 131072,
        "embedding_length": width,
        "feed_forward_length": inner,
        "attention.head_count": heads,
        "attention.head_count_kv": kv_heads,
        "attention.layer_norm_rms_epsilon": 1e-5,
        "rope.dimension_count": head,
    }
    return Shape(f"llama-{layers}x{width}", "llama", keys, tuple(tensors), vocabulary)


def gemma3() -> Shape:
    """Gemma3-27B: a window of 1024 in five of six layers, a pattern that the file does not hold."""
    layers, width, inner, heads, kv_heads, head, vocabulary = 62, 5376, 21504, 32, 16, 128, 262144
    tensors: list[Tensor] = [
        ("token_embd.weight", (width, vocabulary), Q6_K),
        _norm("output_norm.weight", width),
    ]
    for layer in range(layers):
        block = f"blk.{layer}"
        for name in ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"):
            tensors.append(_norm(f"{block}.{name}.weight", width))
        tensors += [_norm(f"{block}.attn_k_norm.weight", head), _norm(f"{block}.attn_q_norm.weight", head)]
        tensors += _attention(block, width, heads, kv_heads, head) + _feed_forward(block, width, inner)
    keys: dict[str, Value] = {
        "block_count": layers,
        "context_length": 131072,
        "embedding_length": width,
        "feed_forward_length": inner,
        "attention.head_count": heads,
        "attention.head_count_kv": kv_heads,
        "attention.key_length": head,
        "attention.value_length": head,
        "attention.sliding_window": 1024,
        "attention.layer_norm_rms_epsilon": 1e-6,
    }
    return Shape("gemma3-27b", "gemma3", keys, tuple(tensors), vocabulary)


def qwen35(*, heads_layers: int = 0) -> Shape:
    """Qwen3.5-27B-like: full attention in every fourth layer, a recurrent state in the others."""
    layers, width, inner, heads, kv_heads, head, vocabulary = 64, 5120, 17408, 24, 4, 256, 151936
    convolution, state, groups, ranks = 4, 128, 16, 48
    keys_width, values_width = state * groups, state * ranks
    tensors = _ends(width, vocabulary)
    for layer in range(layers + heads_layers):
        block = f"blk.{layer}"
        for name in ("attn_norm", "post_attention_norm"):
            tensors.append(_norm(f"{block}.{name}.weight", width))
        if layer % 4 == 3 or layer >= layers:
            tensors += _attention(block, width, heads, kv_heads, head, gated=True)
            tensors += [_norm(f"{block}.attn_q_norm.weight", head), _norm(f"{block}.attn_k_norm.weight", head)]
        else:
            tensors += [
                (f"{block}.attn_qkv.weight", (width, 2 * keys_width + values_width), Q4_K),
                (f"{block}.attn_gate.weight", (width, values_width), Q4_K),
                (f"{block}.ssm_conv1d.weight", (convolution, 2 * keys_width + values_width), F32),
                _norm(f"{block}.ssm_dt.bias", ranks),
                _norm(f"{block}.ssm_a", ranks),
                (f"{block}.ssm_beta.weight", (width, ranks), Q8_0),
                (f"{block}.ssm_alpha.weight", (width, ranks), Q8_0),
                _norm(f"{block}.ssm_norm.weight", state),
                (f"{block}.ssm_out.weight", (values_width, width), Q4_K),
            ]
        tensors += _feed_forward(block, width, inner)
        if layer >= layers:
            tensors += [(f"{block}.nextn.eh_proj.weight", (2 * width, width), Q4_K)]
            tensors += [_norm(f"{block}.nextn.{name}.weight", width) for name in ("enorm", "hnorm")]
    keys: dict[str, Value] = {
        "block_count": layers + heads_layers,
        "context_length": 262144,
        "embedding_length": width,
        "feed_forward_length": inner,
        "attention.head_count": heads,
        "attention.head_count_kv": kv_heads,
        "attention.key_length": head,
        "attention.value_length": head,
        "attention.layer_norm_rms_epsilon": 1e-6,
        "rope.dimension_sections": [11, 11, 10, 0],
        "rope.dimension_count": 64,
        "full_attention_interval": 4,
        "ssm.conv_kernel": convolution,
        "ssm.inner_size": values_width,
        "ssm.state_size": state,
        "ssm.time_step_rank": ranks,
        "ssm.group_count": groups,
    }
    if heads_layers:
        keys["nextn_predict_layers"] = heads_layers
    return Shape("qwen3.5-27b-like", "qwen35", keys, tuple(tensors), vocabulary)


def deepseek_v2_lite() -> Shape:
    """DeepSeek-V2-Lite: latent attention, which stores one compressed row per token and no values."""
    layers, width, inner, expert, heads, vocabulary = 27, 2048, 10944, 1408, 16, 102400
    latent, rope, nope, value, experts, used, together = 512, 64, 128, 128, 64, 6, 2
    tensors = _ends(width, vocabulary)
    for layer in range(layers):
        block = f"blk.{layer}"
        tensors += [
            _norm(f"{block}.attn_norm.weight", width),
            _norm(f"{block}.attn_kv_a_norm.weight", latent),
            _norm(f"{block}.ffn_norm.weight", width),
            (f"{block}.attn_q.weight", (width, heads * (nope + rope)), Q4_K),
            (f"{block}.attn_kv_a_mqa.weight", (width, latent + rope), Q8_0),
            (f"{block}.attn_k_b.weight", (nope, latent, heads), Q8_0),
            (f"{block}.attn_v_b.weight", (latent, value, heads), Q8_0),
            (f"{block}.attn_output.weight", (heads * value, width), Q4_K),
        ]
        if layer < 1:
            tensors += _feed_forward(block, width, inner)
            continue
        tensors += [
            (f"{block}.ffn_gate_inp.weight", (width, experts), F32),
            (f"{block}.ffn_gate_exps.weight", (width, expert, experts), Q4_K),
            (f"{block}.ffn_up_exps.weight", (width, expert, experts), Q4_K),
            (f"{block}.ffn_down_exps.weight", (expert, width, experts), Q8_0),
            (f"{block}.ffn_gate_shexp.weight", (width, expert * together), Q4_K),
            (f"{block}.ffn_up_shexp.weight", (width, expert * together), Q4_K),
            (f"{block}.ffn_down_shexp.weight", (expert * together, width), Q6_K),
        ]
    keys: dict[str, Value] = {
        "block_count": layers,
        "context_length": 163840,
        "embedding_length": width,
        "feed_forward_length": inner,
        "expert_feed_forward_length": expert,
        "leading_dense_block_count": 1,
        "expert_count": experts,
        "expert_used_count": used,
        "expert_shared_count": together,
        "expert_weights_scale": 1.0,
        "attention.head_count": heads,
        "attention.head_count_kv": 1,
        "attention.kv_lora_rank": latent,
        "attention.key_length": latent + rope,
        "attention.value_length": latent,
        "attention.key_length_mla": nope + rope,
        "attention.value_length_mla": value,
        "attention.layer_norm_rms_epsilon": 1e-6,
        "rope.dimension_count": rope,
    }
    return Shape("deepseek-v2-lite", "deepseek2", keys, tuple(tensors), vocabulary)


def published() -> Iterator[Shape]:
    """The five shapes, Llama in two sizes."""
    yield llama(32, 4096, 14336, 32)
    yield llama(80, 8192, 28672, 64)
    yield gemma3()
    yield qwen35()
    yield deepseek_v2_lite()


def gemma4(*, shared: int = 6) -> Shape:
    """Gemma-4-like: windows by a list, wider heads where everything is seen, the last layers share their rows."""
    layers, width, inner, heads, vocabulary = 12, 2048, 8192, 8, 262144
    windowed = [layer % 6 != 5 for layer in range(layers)]
    tensors: list[Tensor] = [("token_embd.weight", (width, vocabulary), Q6_K), _norm("output_norm.weight", width)]
    for layer in range(layers):
        block = f"blk.{layer}"
        head, kv_heads = (256, 4) if windowed[layer] else (512, 2)
        for name in ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"):
            tensors.append(_norm(f"{block}.{name}.weight", width))
        tensors += [_norm(f"{block}.attn_k_norm.weight", head), _norm(f"{block}.attn_q_norm.weight", head)]
        tensors += [] if windowed[layer] else [_norm("rope_freqs.weight", head // 2)] if layer == 5 else []
        tensors += _attention(block, width, heads, kv_heads, head=head) + _feed_forward(block, width, inner)
    keys: dict[str, Value] = {
        "block_count": layers,
        "context_length": 131072,
        "embedding_length": width,
        "embedding_length_per_layer_input": 0,
        "feed_forward_length": inner,
        "final_logit_softcapping": 30.0,
        "attention.head_count": heads,
        "attention.head_count_kv": [4 if flag else 2 for flag in windowed],
        "attention.key_length": 512,
        "attention.value_length": 512,
        "attention.key_length_swa": 256,
        "attention.value_length_swa": 256,
        "attention.sliding_window": 1024,
        "attention.sliding_window_pattern": [int(flag) for flag in windowed],
        "attention.shared_kv_layers": shared,
        "attention.layer_norm_rms_epsilon": 1e-6,
        "rope.freq_base_swa": 10000.0,
    }
    return Shape("gemma4-like", "gemma4", keys, tuple(tensors), vocabulary)


def eagle3(*, own_ends: bool = True) -> Shape:
    """An EAGLE-3 head for Llama-3.1-8B, with embeddings of its own or with those of the target."""
    width, inner, heads, kv_heads, head, vocabulary = 4096, 14336, 32, 8, 128, 128256
    block = "blk.0"
    tensors = _ends(width, vocabulary) if own_ends else [_norm("output_norm.weight", width)]
    tensors += [("fc.weight", (3 * width, width), Q4_K)]
    tensors += [_norm(f"{block}.{name}.weight", width) for name in ("attn_norm", "attn_norm_2", "ffn_norm")]
    tensors += [
        (f"{block}.attn_q.weight", (2 * width, heads * head), Q4_K),
        (f"{block}.attn_k.weight", (2 * width, kv_heads * head), Q4_K),
        (f"{block}.attn_v.weight", (2 * width, kv_heads * head), Q4_K),
        (f"{block}.attn_output.weight", (heads * head, width), Q4_K),
    ]
    tensors += _feed_forward(block, width, inner)
    keys: dict[str, Value] = {
        "block_count": 1,
        "context_length": 131072,
        "embedding_length": width,
        "feed_forward_length": inner,
        "attention.head_count": heads,
        "attention.head_count_kv": kv_heads,
        "attention.layer_norm_rms_epsilon": 1e-5,
        "rope.dimension_count": head,
        "target_layers": [2, 16, 29],
        "target_hidden_size": width,
    }
    return Shape("eagle3-llama-8b", "eagle3", keys, tuple(tensors), vocabulary)
