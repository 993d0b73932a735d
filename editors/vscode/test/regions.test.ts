import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Node, type ProjectRegions, type Regions, tree } from "../src/regions";

const REGIONS: Regions = {
  entries: [
    {
      ...at("train.py", 41),
      idiom: "call",
      target: "src/moe.py::MoE",
      ...SURE(),
      regional: true,
      condition: "cfg.on",
    },
    {
      ...at("eval.py", 3),
      idiom: "decorator",
      target: "eval.py::step",
      ...SURE("likely"),
      regional: false,
      condition: null,
    },
  ],
  functions: [
    { id: "src/moe.py::MoE.forward", ...at("src/moe.py", 60), ...SURE(), entries: [0, 1] },
    { id: "src/moe.py::MoE.route", ...at("src/moe.py", 9), ...SURE("possible"), entries: [0] },
    { id: "n.ipynb::f", ...at("n.ipynb", 12, 3, 2), ...SURE(), entries: [1] },
  ],
  unresolved: [
    { ...at("train.py", 60), expression: "torch.compile(table[name])", why: "unknown", kind: "entry" },
    { ...at("train.py", 1), expression: "main()", why: "too long", kind: "program" },
  ],
  skipped: [],
};
const PROJECT: ProjectRegions = { root: "file:///work/my%20project", regions: REGIONS };
const EMPTY: ProjectRegions = {
  root: "file:///work/other",
  regions: { entries: [], functions: [], unresolved: [], skipped: [] },
};

function at(path: string, line: number, cell: number | null = null, cell_line: number | null = null) {
  return { path, line, cell, cell_line };
}

function SURE(confidence = "certain") {
  return { confidence };
}

function texts(nodes: readonly Node[]): string[] {
  return nodes.map(({ label, description }) => `${label} | ${description}`);
}

function all(nodes: readonly Node[]): Node[] {
  return nodes.flatMap((node) => [node, ...all(node.children)]);
}

describe("the tree of compiled regions", () => {
  test("has the entries, and what was not resolved or not followed", () => {
    assert.deepEqual(texts(tree([PROJECT])), [
      "MoE | train.py:41",
      "step | eval.py:3",
      "Could not be resolved | 1",
      "Not followed to the end | 1",
    ]);
  });

  test("has below an entry the functions that it compiles, by place, those of notebooks by cell", () => {
    const [moe, step] = tree([PROJECT]);
    assert.deepEqual(texts(moe?.children ?? []), [
      "MoE.route | src/moe.py:9, possible",
      "MoE.forward | src/moe.py:60",
    ]);
    assert.deepEqual(texts(step?.children ?? []), ["f | n.ipynb:cell 3:2", "MoE.forward | src/moe.py:60"]);
  });

  test("says on an entry how it compiles, and if that is not certain", () => {
    const [moe, step] = tree([PROJECT]);
    assert.equal(moe?.tooltip, "train.py:41 compiles MoE (call, each instance separately, if cfg.on)");
    assert.equal(step?.tooltip, "eval.py:3 compiles step (decorator, likely)");
  });

  test("leads to the line", () => {
    const [moe] = tree([PROJECT]);
    assert.deepEqual(moe?.children[0]?.place, { root: PROJECT.root, at: REGIONS.functions[1] });
  });

  test("has folders only if there are several projects, and only those that compile something", () => {
    assert.deepEqual(texts(tree([PROJECT, EMPTY])), ["my project | "]);
    assert.deepEqual(tree([EMPTY]), []);
  });

  test("names every node once, and in the next answer in the same way", () => {
    const twice = { ...REGIONS, entries: [...REGIONS.entries, ...REGIONS.entries] };
    const names = all(tree([{ ...PROJECT, regions: twice }, PROJECT])).map(({ id }) => id);
    const roots = all(tree([{ ...PROJECT, regions: twice }])).map(({ id }) => id);
    assert.equal(new Set(roots).size, roots.length);
    assert.deepEqual(
      names,
      all(tree([{ ...PROJECT, regions: twice }, PROJECT])).map(({ id }) => id),
    );
  });
});
