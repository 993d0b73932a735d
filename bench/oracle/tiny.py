"""A tiny random model of an architecture: its own configuration class, every size made small.

Sizes are recognised by the name of the field, never by the architecture. Where a shrunk model cannot be
built or run, a milder shrink is tried; what then remains too large is left out by the caller's cap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

LAYERS, MORE_LAYERS = 4, 10
HEADS, KEY_VALUE_HEADS, HEAD, ROTARY, WIDTH, INNER, VOCABULARY, EXPERTS = 4, 2, 16, 8, 64, 96, 320, 4

START = "decoder_start_token_id"
"""What a checkpoint's generation settings give; training shifts the labels with it."""

UNSET = {
    "head_dim": HEAD,
    "num_key_value_heads": KEY_VALUE_HEADS,
    "n_routed_experts": EXPERTS,
    "n_shared_experts": 1,
    "num_local_experts": EXPERTS,
    "num_experts_per_tok": 2,
    "pad_token_id": 0,
}
"""Fields that a checkpoint always gives, though the configuration class leaves them None."""

Shrink = tuple[re.Pattern[str], int | Callable[[int], int]]


def _sizes(*rows: tuple[str, int | Callable[[int], int]]) -> tuple[Shrink, ...]:
    return tuple((re.compile(pattern + r"\Z"), size) for pattern, size in rows)


LAYER_COUNT = re.compile(
    r"(?:\w+_)?(?:num_)?(?:hidden_|encoder_|decoder_|n_)?layers?|n_layers?|depths?|num_blocks?"
)
TOKENS = _sizes(
    (r"(?:\w+_)?vocab_size(?:_per_layer_input)?|n_words|encoder_hash_byte_group_vocab", VOCABULARY),
    (r"(?:pad|eos|bos|sep|cls|mask|unk|eod)_token_id", lambda number: number % 7 + 1),
    (r"\w+_token_(?:id|index)", lambda number: VOCABULARY - 1 - number % 50),
)
WIDTHS = _sizes(
    (r"(?:num_|n_)?(?:\w+_)?(?:kv|key_value|num_kv)_heads?|n_head_kv|multi_query_group_num", KEY_VALUE_HEADS),
    (r"(?:\w+_)?(?:num_attention|attention|num|n)_heads?", HEADS),
    (r"(?:qk_rope|rope)_head_dim|rotary_dim", ROTARY),
    (r"(?:qk_)?(?:\w+_)?head_dim|d_kv|kv_channels|d_head|attention_head_size", HEAD),
    (r"(?:\w+_)?(?:hidden_size|d_model|embed_dim|n_embd|projection_dim|hidden_dim|embedding_size)", WIDTH),
    (r"(?:\w+_)?(?:intermediate_size|ffn_dim|ffn_hidden_size|d_ff|n_inner|mlp_dim|inner_dim)", INNER),
    (r"(?:num|n)_(?:routed|local)?_?experts|moe_num_experts|num_local_experts", EXPERTS),
    (r"(?:num_experts_per_tok\w*|moe_topk|moe_k|top_k|num_selected_experts)", 2),
    (r"(?:n|num)_(?:expert_)?groups?|topk_group|num_expert_group|topk_limited_groups", 1),
    (r"(?:q|kv|o)_lora_rank", 32),
    (
        r"(?:max_position_embeddings|n_positions|n_ctx|max_seq_len\w*|max_source_positions|max_target_positions)",
        128,
    ),
    (r"(?:\w+_)?sliding_window(?:_size)?|attention_window|local_attention|window_size", 8),
    (r"index_topk", 4),
    (r"attn_layer_period|expert_layer_period", 2),
    (r"attn_layer_offset|expert_layer_offset", 1),
    (r"image_size|input_size|crop_size", 32),
    (r"patch_size", 8),
)
STEPS: tuple[tuple[str, int, tuple[tuple[Shrink, ...], ...]], ...] = (
    ("all sizes", LAYERS, (TOKENS, WIDTHS)),
    ("all sizes, more layers", MORE_LAYERS, (TOKENS, WIDTHS)),
    ("layers and vocabulary", LAYERS, (TOKENS,)),
    ("layers", LAYERS, ()),
)


def configurations(config_class: type[Any]) -> Iterator[tuple[str, Any]]:
    """Configurations from the smallest on, each with a word for what was shrunk; None if refused."""
    for word, layers, tables in STEPS:
        yield _attempt(word, config_class, layers, tables)


def _attempt(
    word: str, config_class: type[Any], layers: int, tables: tuple[tuple[Shrink, ...], ...]
) -> tuple[str, Any]:
    try:
        return word, _build(config_class, layers, tables)
    except Exception as error:  # a configuration class may refuse any combination of sizes
        return f"{word}: {type(error).__name__}: {error}"[:300], None


def _build(config_class: type[Any], layers: int, tables: tuple[tuple[Shrink, ...], ...]) -> Any:
    defaults = vars(config_class())
    places = _places(defaults, layers)
    given: dict[str, Any] = {}
    for name, value in defaults.items():
        if name.startswith("_"):
            continue
        if value is not None and name in getattr(config_class, "sub_configs", {}):
            given[name] = _build(type(value), layers, tables)
        elif value is None and name in UNSET and tables:
            given[name] = UNSET[name]
        elif _counts_layers(name, value):
            given[name] = min(layers, value)
        elif isinstance(value, (list, tuple)) and len(value) in places:
            kept = type(value)(value[place] for place in places[len(value)])
            given[name] = _shrunk(name, kept, tables) or kept
        elif (small := _shrunk(name, value, tables)) is not None:
            given[name] = small
    _agree(given, defaults)
    config = config_class(**given)
    if getattr(config, "is_encoder_decoder", False) and getattr(config, START, None) is None:
        setattr(config, START, 1)
    return config


def _agree(given: dict[str, Any], defaults: dict[str, Any]) -> None:
    """Fields that must stay equal to each other, since the architecture says one thing twice."""
    if "qk_rope_head_dim" in given and "head_dim" in given:
        given["head_dim"] = given["qk_rope_head_dim"]
    heads = "num_attention_heads"
    if heads in given and defaults.get("num_key_value_heads") == defaults[heads]:
        given["num_key_value_heads"] = given[heads]


def _counts_layers(name: str, value: Any) -> bool:
    return type(value) is int and LAYER_COUNT.fullmatch(name) is not None


def _places(defaults: dict[str, Any], layers: int) -> dict[int, list[int]]:
    """By the length of per-layer lists, which layers to keep so that every type of layer is among them."""
    counts = {value for name, value in defaults.items() if _counts_layers(name, value) and value > layers}
    found: dict[int, list[int]] = {}
    for value in defaults.values():
        if isinstance(value, (list, tuple)) and len(value) in counts and len(value) not in found:
            kinds = {repr(kind): kind for kind in value}.values()
            firsts = [list(value).index(kind) for kind in kinds][:layers]
            others = [place for place in range(len(value)) if place not in firsts]
            found[len(value)] = sorted([*firsts, *others[: layers - len(firsts)]])
    return found


def _shrunk(name: str, value: Any, tables: tuple[tuple[Shrink, ...], ...]) -> Any:
    """The small value for a field of sizes; None leaves the default."""
    if name == "depths" and isinstance(value, (list, tuple)):
        return type(value)(min(2, depth) for depth in value)
    for pattern, size in (row for table in tables for row in table if row[0].match(name)):
        del pattern
        many = isinstance(value, (list, tuple))
        numbers = list(value) if many else [value]
        if not numbers or any(type(number) is not int for number in numbers):
            continue
        small = [size(one) if callable(size) else min(size, one) for one in numbers]
        return type(value)(small) if many else small[0]
    return None
