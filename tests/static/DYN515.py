import torch


def scale(x):
    return x * 2
# %% names that torch does not have
import torch._inductor.config as inductor

torch._dynamo.config.capture_scalar_output = True  # expect: DYN515
inductor.triton.cudagraph = True  # expect: DYN515
with torch._dynamo.config.patch(automatic_dynamic=True):  # expect: DYN515
    scale(torch.ones(3))
# %% values of another type
ON = "False"
torch._dynamo.config.suppress_errors = ON  # expect: DYN515
torch._dynamo.config.recompile_limit = 8.5  # expect: DYN515
torch._inductor.config.compile_threads = "4"  # expect: DYN515
torch._inductor.config.max_autotune = None  # expect: DYN515
# %% modes, options and backends that there are not
one = torch.compile(scale, mode="max-autotuned")  # expect: DYN515
two = torch.compile(scale, options={"max_autotunes": True})  # expect: DYN515
three = torch.compile(scale, backend="inducter")  # expect: DYN515
four = torch.compile(scale, dynamic="yes")  # expect: DYN515
five = torch.compile(scale, mode="default", options={"max_autotune": True})  # expect: DYN515
# %% in a decorator, and in place
@torch.compile(mode="reduce_overhead")  # expect: DYN515
def shift(x):
    return x + 1


class Net(torch.nn.Module):
    def forward(self, x):
        return x * 2


net = Net()
net.compile(mode="fast")  # expect: DYN515
# %% quiet: settings of every kind
torch._dynamo.config.recompile_limit = 8
torch._dynamo.config.cache_size_limit = 8
torch._dynamo.config.suppress_errors = 1
torch._inductor.config.compile_threads = 4
torch._inductor.config.triton.unique_kernel_names = True
torch._inductor.config.coordinate_descent_tuning = True
torch._functorch.config.activation_memory_budget = 1
torch.compiler.config.force_disable_caches = True
torch.fx.experimental._config.use_duck_shape = False
# %% quiet: it asks first
if hasattr(torch._dynamo.config, "optimize_everything"):
    torch._dynamo.config.optimize_everything = True
# %% quiet: an older torch
if torch.__version__ < "2.2":
    torch._dynamo.config.guard_everything = True
else:
    torch._dynamo.config.recompile_limit = 8
# %% quiet: it catches the error
try:
    torch._dynamo.config.guard_everything = True
except AttributeError:
    pass
# %% quiet: modes and options that there are
one = torch.compile(scale, mode="max-autotune-no-cudagraphs", dynamic=None, fullgraph=True)
two = torch.compile(scale, options={"max_autotune": True, "triton.cudagraphs": False, "epilogue-fusion": True, "guard_filter_fn": any})
three = torch.compile(scale, mode=None, backend="aot_eager")
# %% quiet: a backend of its own
def mine(graph, inputs):
    return graph.forward

one = torch.compile(scale, backend=mine, options={"speed": 3})
three = torch.compile(scale, backend=mine, mode="quick")
two = torch.compile(scale, backend="tensorrt", options={"min_block_size": 3})
# %% quiet: only the run knows
def build(options):
    torch._dynamo.config.recompile_limit = options.limit
    return torch.compile(scale, mode=options.mode)
# %% quiet: what else is called compile
import re

class Keras:
    def compile(self, mode):
        return mode

Keras().compile(mode="fast")
pattern = re.compile("fast")
# %% quiet: the settings of somebody else
class Settings:
    pass

config = Settings()
config.recompile_limits = "8"
# %% quiet: a set gets one item more
torch._dynamo.config.reorderable_logging_functions.add(print)
# %% an option that does not exist, beside one that does
run = torch.compile(lambda x: x * 2, options={"max_autotune": True, "epilogue_fusions": True})  # expect: DYN515
# %% quiet: numbers where they belong
import torch._inductor.config as inductor

inductor.max_autotune = True
inductor.triton.cudagraphs = False
torch._dynamo.config.accumulated_recompile_limit = 128
# %% quiet: a setting that only some versions have
if hasattr(torch._dynamo.config, "inline_inbuilt_nn_module"):
    torch._dynamo.config.inline_inbuilt_nn_module = True
