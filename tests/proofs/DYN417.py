"""One program per row of the cost table of DYN417; a probe's docstring is the label of its row."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

NODES = torch.randn(4, 8)
EDGES = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
SEQUENCES = torch.randn(2, 4, 8)


class Graph(nn.Module):
    """A layer of a graph network, whose neighbours subclasses find in one way or another."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.proj = nn.Linear(dim, dim)


class Adjacency(Graph):
    """Builds the matrix of the edges in each call."""

    def forward(self, x, edges):
        h = self.proj(self.norm(x))
        adjacency = torch.sparse_coo_tensor(edges, torch.ones(4), (4, 4))  # expect: DYN417 break
        return x + adjacency @ h


def probe_adjacency():
    """`torch.sparse_coo_tensor(...)` in `forward`"""
    return torch.compile(Adjacency()), [(NODES, EDGES)]


class GivenAdjacency(Graph):
    """Gets the matrix of the edges as an argument."""

    def forward(self, x, adjacency):
        h = self.proj(self.norm(x))
        return x + torch.sparse.mm(adjacency, h)  # expect: DYN417 break


def probe_given_adjacency():
    """`torch.sparse.mm` of a sparse argument"""
    return torch.compile(GivenAdjacency()), [(NODES, torch.eye(4).to_sparse())]


class Thinned(Graph):
    """Keeps only what is not zero."""

    def forward(self, x):
        h = self.proj(self.norm(x)).relu()
        return x + h.to_sparse().to_dense()  # expect: DYN417 break


def probe_thinned():
    """`h.to_sparse().to_dense()`"""
    return torch.compile(Thinned()), [(NODES,)]


class Ragged(Graph):
    """A batch of two lengths in the strided layout."""

    def forward(self, a, b):
        a, b = self.norm(a), self.norm(b)
        batch = torch.nested.nested_tensor([a, b])  # expect: DYN417 break
        return batch.to_padded_tensor(0.0) * 2


def probe_ragged():
    """`torch.nested.nested_tensor([a, b])` in the strided layout"""
    return torch.compile(Ragged()), [(NODES[:3], NODES[:2])]


class Reader(nn.Module):
    """Reads sequences with a recurrent layer."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.embed = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)
        self.rnn = nn.LSTM(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, 3)

    def forward(self, x):
        x = self.norm(self.embed(x))
        h, _ = self.rnn(x)  # expect: DYN417 break
        return self.head(h[:, -1])


def probe_reader():
    """an LSTM behind other layers"""
    return torch.compile(Reader()), [(SEQUENCES,)]


class Packed(Graph):
    """Leaves the padding out."""

    def forward(self, x, lengths):
        h = self.norm(x) * 2
        packed = pack_padded_sequence(h, lengths, batch_first=True)  # expect: DYN417 break
        return self.proj(packed.data) * 2


def probe_packed():
    """`pack_padded_sequence`"""
    return torch.compile(Packed()), [(SEQUENCES, torch.tensor([4, 3]))]


class Scattered(Graph):
    """Sums over the edges without a matrix."""

    def forward(self, x, edges):
        h = self.proj(self.norm(x))
        return x + torch.zeros_like(h).index_add(0, edges[0], h[edges[1]])


def probe_scattered():
    """the sum over edges by `index_add`"""
    return torch.compile(Scattered()), [(NODES, EDGES)]


class Padded(Graph):
    """Pads two lengths to one tensor."""

    def forward(self, a, b):
        batch = pad_sequence([self.norm(a), self.norm(b)], batch_first=True)
        return self.proj(batch) * 2


def probe_padded():
    """`pad_sequence`"""
    return torch.compile(Padded()), [(NODES[:3], NODES[:2])]


class Stepped(nn.Module):
    """Runs a recurrent cell over the steps of its own loop."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.cell = nn.GRUCell(dim, dim)
        self.head = nn.Linear(dim, 3)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], 8)
        for step in x.unbind(1):
            h = self.cell(step, h)
        return self.head(h)


def probe_stepped():
    """`nn.GRUCell` in a loop of `forward`"""
    return torch.compile(Stepped()), [(SEQUENCES,)]
