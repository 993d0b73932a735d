"""Random inputs for a model of any family, from its main input's name and its configuration alone."""

from __future__ import annotations

from typing import Any

import torch

FIRST_TOKEN, LAST_TOKEN = 10, 200
"""Token ids that are in every vocabulary and special in none."""


def inputs(model: Any, family: str, batch: int, length: int) -> dict[str, Any]:
    """Keyword arguments for one call, with labels where a loss can be had."""
    config = model.config
    main = getattr(model, "main_input_name", "input_ids")
    tokens = torch.randint(FIRST_TOKEN, LAST_TOKEN, (batch, length))
    if main == "pixel_values" and family != "image-text":
        given: dict[str, Any] = {"pixel_values": _image(config, batch, video=family == "video")}
        return given | ({"labels": torch.zeros(batch, dtype=torch.long)} if family == "image" else {})
    if main == "input_values":
        wave = torch.randn(batch, 2000 + 40 * length)
        return {"input_values": wave} | ({"labels": tokens[:, :4].contiguous()} if family == "speech" else {})
    if main == "input_features":
        bins = _first(config, ("num_mel_bins", "input_feat_per_channel", "feature_size"), 80)
        frames = 2 * _first(config, ("max_source_positions",), 4 * length)
        features = torch.randn(batch, bins, frames)
        if "conformer" in type(model).__name__.lower() or getattr(config, "input_feat_per_channel", None):
            features = features.transpose(1, 2)
        given = {"input_features": features}
        return given | ({"labels": tokens[:, :8].contiguous()} if family == "speech" else {})
    given = {"input_ids": tokens}
    if getattr(config, "is_encoder_decoder", False) and family in ("seq2seq", "causal"):
        given["labels"] = tokens[:, : max(4, length // 2)].contiguous()
    elif family in ("causal", "masked", "image-text", "seq2seq"):
        given["labels"] = tokens
    return given


def _image(config: Any, batch: int, video: bool) -> torch.Tensor:
    size = _first(config, ("image_size", "input_size", "crop_size"), 64)
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    channels = _first(config, ("num_channels", "in_channels", "in_chans"), 3)
    shape = (batch, channels, height, width)
    if video:
        shape = (batch, _first(config, ("num_frames",), 8), channels, height, width)
    return torch.randn(shape)


def _first(config: Any, names: tuple[str, ...], default: Any) -> Any:
    """The first of these fields that the configuration, or one it holds, gives."""
    nested = [getattr(config, name, None) for name in getattr(config, "sub_configs", {})]
    for one in (config, *nested):
        for name in names:
            if (value := getattr(one, name, None)) is not None:
                return value
    return default
