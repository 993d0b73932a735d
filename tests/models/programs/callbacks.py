"""Callbacks: which functions of ours a library calls, such as attention masks, and which it is only given."""

import torch
from torch import nn

# %% a function of a library that is compiled under its own name still runs what it is given
from torch.nn.attention.flex_attention import flex_attention
flex_attention = torch.compile(flex_attention)
def inner(q, k, v, mask):
    def score_mod(score, b, h, i, j): return torch.where(mask[b, i], score, -1.0)  # compiled: certain
    return flex_attention(q, k, v, score_mod=score_mod)
