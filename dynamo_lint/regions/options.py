"""The part of the configuration that says what is compiled."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RegionOptions:
    """What is declared to be compiled or not, and how far guesses are followed (see interface: regions)."""

    declared: tuple[str, ...] = ()
    """`regions = ["pkg.moe:MoE", "pkg.blocks.*Block"]`."""
    cut: tuple[str, ...] = ()
    """`not-regions`: cut like a recursive disable."""
    compile_wrappers: tuple[str, ...] = ()
    """`pkg.util:maybe_compile#0`: callee whose Nth argument gets compiled."""
    compile_decorators: tuple[str, ...] = ()
    disable_decorators: tuple[str, ...] = ()
    assume: str = "none"
    """`none`, `blocks` or `modules`."""
    guesses: bool = False
    """Follow what is merely assumed, too: it costs time, and is reported only on request."""
