"""Probes for architectures of transformers: tiny random models whose repeated blocks are compiled one by one.

Run by confirm_transformers.py, which gives each probe a process of its own. `probe_llama` and so on are made
on demand, since the probes differ in their configuration only.
"""

from __future__ import annotations

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

SIZES = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}

KINDS = {
    "llama": ("llama", "LlamaDecoderLayer", {}),
    "mistral": ("mistral", "MistralDecoderLayer", {"sliding_window": 4}),
    "qwen2": ("qwen2", "Qwen2DecoderLayer", {}),
    "qwen3": ("qwen3", "Qwen3DecoderLayer", {}),
    "gemma2": ("gemma2", "Gemma2DecoderLayer", {"sliding_window": 4}),
    "gemma3_text": ("gemma3", "Gemma3DecoderLayer", {"sliding_window": 4}),
    "gpt2": ("gpt2", "GPT2Block", {"n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 64}),
    "gpt_neox": ("gpt_neox", "GPTNeoXLayer", {}),
    "opt": ("opt", "OPTDecoderLayer", {"ffn_dim": 48, "word_embed_proj_dim": 32}),
    "phi": ("phi", "PhiDecoderLayer", {}),
    "mixtral": ("mixtral", "MixtralDecoderLayer", {"num_local_experts": 2, "num_experts_per_tok": 1}),
    "falcon": ("falcon", "FalconDecoderLayer", {"head_dim": None}),
    "mamba": ("mamba", "MambaBlock", {"state_size": 4}),
    "bert": ("bert", "BertLayer", {}),
}
"""Type of model to its folder, the class of its blocks, and its own sizes (None: it has no such size)."""


def build(kind):
    """A tiny random model, with each block compiled on its own."""
    import torch
    from transformers import AutoConfig, AutoModel, AutoModelForCausalLM

    _, block, needs = KINDS[kind]
    sizes = {name: value for name, value in {**SIZES, **needs}.items() if value is not None}
    config = AutoConfig.for_model(kind, **sizes)
    make = AutoModel if kind == "bert" else AutoModelForCausalLM
    torch.manual_seed(0)
    model = make.from_config(config)
    blocks = [part for part in model.modules() if type(part).__name__ == block]
    assert blocks, f"{kind} has no {block}"
    for part in blocks:
        part.compile()
    return model


def probe(kind):
    """Train steps of two sizes, evaluation, and a few tokens with a cache where the model has one."""
    import torch

    model = build(kind)

    def tokens(batch, length):
        generator = torch.Generator().manual_seed(batch * length)
        return torch.randint(3, 60, (batch, length), generator=generator)

    def output(batch, length):
        made = (
            model(input_ids=tokens(batch, length), use_cache=False)
            if kind != "bert"
            else model(tokens(batch, length))
        )
        return made.logits if "logits" in made else made.last_hidden_state

    def call(mode, batch, length):
        model.train(mode == "train")
        if mode == "train":
            model.zero_grad()
            loss = output(batch, length).square().mean()
            loss.backward()
            return loss
        with torch.no_grad():
            if mode == "eval" or kind == "bert":
                return output(batch, length)
            ids = tokens(batch, length)
            return model.generate(input_ids=ids, max_new_tokens=4, min_new_tokens=4, do_sample=False)

    steps = [("train", 2, 8)] * 3 + [("train", 3, 6)] * 2 + [("eval", 2, 8)] * 2 + [("generate", 2, 5)] * 3
    return call, steps


def __getattr__(name):
    if name.startswith("probe_") and name.removeprefix("probe_") in KINDS:
        return lambda: probe(name.removeprefix("probe_"))
    raise AttributeError(name)
