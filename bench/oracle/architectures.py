"""Which architectures there are, by family, and a tiny model of one: the library's own auto mappings say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

FAMILIES = {
    "causal": "AutoModelForCausalLM",
    "masked": "AutoModelForMaskedLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
    "image": "AutoModelForImageClassification",
    "audio": "AutoModelForAudioClassification",
    "speech": "AutoModelForSpeechSeq2Seq",
    "video": "AutoModelForVideoClassification",
    "image-text": "AutoModelForImageTextToText",
    "encoder": "AutoModel",
}
"""In the order of interest; a model type is looked at once, in the first family that has it."""

MOST_PARAMETERS = 50_000_000


class NotBuilt(Exception):
    """No configuration small enough could be built; the text says what was tried."""


def architectures(families: list[str]) -> Iterator[tuple[str, str]]:
    """(family, model type) of everything the library maps."""
    import transformers

    seen: set[str] = set()
    for family, auto in FAMILIES.items():
        for config in getattr(transformers, auto)._model_mapping:
            if config.model_type and config.model_type not in seen:
                seen.add(config.model_type)
                if family in families:
                    yield family, config.model_type


def build(family: str, model_type: str) -> tuple[Any, str]:
    """A randomly initialised tiny model, and how its configuration was made."""
    import torch
    import transformers

    from bench.oracle.inputs import inputs
    from bench.oracle.tiny import configurations

    auto = getattr(transformers, FAMILIES[family])
    tried: list[str] = []
    for word, config in configurations(transformers.CONFIG_MAPPING[model_type]):
        if config is None:
            tried.append(word)
            continue
        try:
            with torch.device("meta"):
                size = sum(one.numel() for one in auto.from_config(config).parameters())
            if size > MOST_PARAMETERS:
                tried.append(f"{word}: {size / 1e6:.0f}M parameters")
                continue
            torch.manual_seed(0)
            model = auto.from_config(config)
            with torch.no_grad():
                model(**inputs(model, family, 2, 16))
            return model, word
        except Exception as error:  # any model may refuse any configuration
            tried.append(f"{word}: {type(error).__name__}: {error}"[:200])
    raise NotBuilt("; ".join(tried))
