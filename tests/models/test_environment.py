"""The table of the environment variables of torch: what each value means, and which names exist."""

import pytest

from dynamo_lint.models.environment import environment, misreading, unknown


@pytest.mark.parametrize(
    ("name", "value", "read_as"),
    [
        ("TORCHDYNAMO_SUPPRESS_ERRORS", "0", "on"),
        ("TORCHDYNAMO_SUPPRESS_ERRORS", "False", "on"),
        ("TORCHDYNAMO_SUPPRESS_ERRORS", "", None),
        ("TORCHDYNAMO_SUPPRESS_ERRORS", "1", None),
        ("TORCHDYNAMO_DISABLE", "true", "off"),
        ("TORCH_COMPILE_DISABLE", "off", None),
        ("TORCH_DYNAMO_AUTOMATIC_DYNAMIC_SHAPES", "on", "off"),
        ("TORCH_DYNAMO_AUTOMATIC_DYNAMIC_SHAPES", "", "off"),
        ("TORCHINDUCTOR_FX_GRAPH_CACHE", "false", "on"),
        ("TORCHINDUCTOR_FX_GRAPH_CACHE", "yes", None),
        ("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "no", "on"),
        ("TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE", "true", "ignored"),
        ("TORCHINDUCTOR_COMPILE_THREADS", "auto", "an error"),
        ("TORCHINDUCTOR_COMPILE_THREADS", " 8 ", None),
        ("TORCH_LOGS", "recompile", "an error"),
        ("TORCH_LOGS", "+dynamo, -recompiles,my.module", None),
        ("TORCHINDUCTOR_CACHE_DIR", "", "the working directory"),
    ],
)
def test_torch_reads_a_value_as_its_own_sources_say(name: str, value: str, read_as: str | None) -> None:
    found = misreading(environment().variables[name], value)
    assert (found.read_as if found else None) == read_as


@pytest.mark.parametrize(
    ("name", "version", "advice"),
    [
        ("TORCHINDUCTOR_MAX_AUTOTUN", (2, 13), "did you mean `TORCHINDUCTOR_MAX_AUTOTUNE`?"),
        ("TORCH_LOG", (2, 13), "did you mean `TORCH_LOGS`?"),
        ("TORCH_DISTRIBUTED_DEFAULT_TIMEOUT", (2, 13), "pass `timeout=` to `init_process_group`"),
        ("TORCHINDUCTOR_ORIGAMI", (2, 9), "unset it: torch reads it from 2.12 on"),
        ("TORCHINDUCTOR_ORIGAMI", (2, 13), None),
        ("TORCHINDUCTOR_QUITE_NEW_THING", (2, 13), "unset it"),
        ("TORCHINDUCTOR_QUITE_NEW_THING", (2, 15), None),
        ("TORCH_HOME", (2, 13), None),
        ("TORCH_OF_OURS", (2, 13), None),
        ("PATH", (2, 13), None),
    ],
)
def test_only_a_name_that_can_be_none_but_torchs_is_unknown(name: str, version, advice: str | None) -> None:
    assert unknown(name, version) == advice


def test_what_loads_the_compiler_is_told_by_name() -> None:
    table = environment()
    assert table.loads_by_import("torch._dynamo.config")
    assert not table.loads_by_import("torch._dynamo_like")
    assert table.loads_by_call("torch.optim.AdamW")
    assert not table.loads_by_call("torch.optim.lr_scheduler.StepLR")
    assert not table.loads_by_call("torch.compiler.is_compiling")
