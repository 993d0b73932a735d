"""Arguments of torch.nn modules that their forward reads, and Dynamo guards."""

from __future__ import annotations

from dataclasses import dataclass

from dynamo_lint.instances.terms import Term

CONTAINERS = frozenset({"Sequential", "ModuleList", "ModuleDict"})


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of one class in order, and what each is to a compiled graph."""

    order: tuple[str, ...]
    guarded: frozenset[str]
    """Compared by value in a guard."""
    shapes: frozenset[str]
    """They decide the shape of a parameter, which is guarded as well."""


def _signature(text: str) -> Signature:
    """`in+ out+ kernel+ stride! bias!`: `+` decides a shape, `!` is guarded."""
    words = text.split()
    return Signature(
        tuple(word.rstrip("+!") for word in words),
        frozenset(word.rstrip("+!") for word in words if "!" in word),
        frozenset(word.rstrip("+!") for word in words if "+" in word),
    )


_CONV = _signature(
    "in_channels+ out_channels+ kernel_size+ stride! padding! dilation! groups+! bias! padding_mode!"
)
_TRANSPOSED = _signature(
    "in_channels+ out_channels+ kernel_size+ stride! padding! output_padding! groups+! bias! dilation!"
)
_BATCH_NORM = _signature("num_features+ eps! momentum! affine! track_running_stats!")
_POOL = _signature("kernel_size! stride! padding! dilation! return_indices! ceil_mode!")
_DROPOUT = _signature("p! inplace!")
SIGNATURES: dict[str, Signature] = {
    "Linear": _signature("in_features+ out_features+ bias!"),
    "Bilinear": _signature("in1_features+ in2_features+ out_features+ bias!"),
    "Embedding": _signature("num_embeddings+ embedding_dim+ padding_idx! max_norm! norm_type!"),
    "LayerNorm": _signature("normalized_shape+! eps! elementwise_affine! bias!"),
    "RMSNorm": _signature("normalized_shape+! eps! elementwise_affine!"),
    "GroupNorm": _signature("num_groups! num_channels+ eps! affine!"),
    "Softmax": _signature("dim!"),
    "LogSoftmax": _signature("dim!"),
    "GELU": _signature("approximate!"),
    "LeakyReLU": _signature("negative_slope! inplace!"),
    "ELU": _signature("alpha! inplace!"),
    "ReLU": _signature("inplace!"),
    "Softplus": _signature("beta! threshold!"),
    "Flatten": _signature("start_dim! end_dim!"),
    "PixelShuffle": _signature("upscale_factor!"),
    "Upsample": _signature("size! scale_factor! mode! align_corners!"),
    "MultiheadAttention": _signature("embed_dim+! num_heads! dropout! bias!"),
    "Parameter": _signature("data+ requires_grad!"),
    **{f"Conv{n}d": _CONV for n in (1, 2, 3)},
    **{f"ConvTranspose{n}d": _TRANSPOSED for n in (1, 2, 3)},
    **{f"BatchNorm{n}d": _BATCH_NORM for n in (1, 2, 3)},
    **{f"InstanceNorm{n}d": _BATCH_NORM for n in (1, 2, 3)},
    **{f"MaxPool{n}d": _POOL for n in (1, 2, 3)},
    **{f"AvgPool{n}d": _signature("kernel_size! stride! padding! ceil_mode!") for n in (1, 2, 3)},
    **{f"Adaptive{kind}Pool{n}d": _signature("output_size!") for kind in ("Avg", "Max") for n in (1, 2, 3)},
    **{f"Dropout{n}": _DROPOUT for n in ("", "1d", "2d", "3d")},
    "AlphaDropout": _DROPOUT,
}


def part_name(part: Term) -> str:
    """`Dropout` for a `torch.nn.Dropout(…)`."""
    return str(part.leaf).rpartition(".")[2]


def arguments(part: Term) -> dict[str, Term]:
    """The arguments of a torch.nn constructor by parameter name, as far as the class is known."""
    signature = SIGNATURES.get(part_name(part))
    if signature is None:
        return {}
    positional = iter(signature.order)
    bound: dict[str, Term] = {}
    for name, value in zip(part.names, part.parts, strict=False):
        key = next(positional, "*") if name == "*" else name
        if key in signature.order:
            bound[key] = value
    return bound
