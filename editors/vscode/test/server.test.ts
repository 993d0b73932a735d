// The real server over stdio, spoken to as the client of the extension does.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  createProtocolConnection,
  DidChangeTextDocumentNotification,
  DidOpenNotebookDocumentNotification,
  DidOpenTextDocumentNotification,
  type Diagnostic,
  DocumentDiagnosticRequest,
  ExitNotification,
  type FullDocumentDiagnosticReport,
  InitializedNotification,
  InitializeRequest,
  NotebookCellKind,
  type ProtocolConnection,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver-protocol/node";
import { type Program } from "../src/command";
import { output, type Running, startServer, versionOf } from "../src/processes";
import { type ProjectRegions, REGIONS_METHOD, tree } from "../src/regions";
import { parseRules, RULE_ARGUMENTS } from "../src/rules";
import { ended, isFinal } from "../src/trouble";
import { isOlder, OLDEST } from "../src/version";

const ROOT = path.resolve("../..");
const OWN = path.join(ROOT, ".venv/bin/python");
const PYTHON = process.env.DYNAMO_LINT_PYTHON ?? (existsSync(OWN) ? OWN : "python3");
const PROGRAM: Program = { command: PYTHON, prefix: ["-m", "dynamo_lint"], origin: "interpreter" };
const MOE = `\
import torch
from torch import nn


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.total = 0

    def forward(self, x):
        self.total += 1
        return x * self.total
`;
const CALLS = `\
model = MoE()
model.compile()
for _ in range(30):
    model(torch.ones(2))
`;
const TRAIN = `import torch\nfrom moe import MoE\n\n${CALLS}`;

const folder = mkdtempSync(path.join(tmpdir(), "dynamo-lint-"));
const project = path.join(folder, "project");
const surroundings = {
  cwd: folder,
  env: { ...process.env, PYTHONPATH: ROOT, XDG_CACHE_HOME: path.join(folder, "cache") },
};

after(() => {
  rmSync(folder, { recursive: true });
});

describe("the server", () => {
  let running: Running;
  let connection: ProtocolConnection;

  before(async () => {
    mkdirSync(project);
    writeFileSync(path.join(project, "moe.py"), MOE);
    writeFileSync(path.join(project, "train.py"), TRAIN);
    running = await startServer(PROGRAM, [], surroundings);
    const { stdout, stdin } = running.process;
    connection = createProtocolConnection(new StreamMessageReader(stdout), new StreamMessageWriter(stdin));
    connection.listen();
    // A server that has gone answers nothing: what waits for it fails then.
    void running.ending.then(() => {
      connection.dispose();
    });
    const { capabilities } = await connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      rootUri: null, // eslint-disable-line @typescript-eslint/no-deprecated -- its type requires it
      capabilities: { textDocument: { diagnostic: {} }, notebookDocument: { synchronization: {} } },
      workspaceFolders: [{ uri: uri("."), name: "project" }],
    });
    assert.ok(capabilities.diagnosticProvider);
    assert.ok(capabilities.notebookDocumentSync);
    await connection.sendNotification(InitializedNotification.type, {});
  });

  after(async () => {
    await connection.sendRequest(ShutdownRequest.type);
    await connection.sendNotification(ExitNotification.type);
    assert.equal((await running.ending).code, 0);
  });

  test("finds the hazard of a small project", async () => {
    await connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri: uri("moe.py"), languageId: "python", version: 1, text: MOE },
    });
    const found = await diagnostics(connection, uri("moe.py"));
    assert.deepEqual(
      found.map(({ code, source, range }) => [code, source, range.start.line]),
      [["DYN101", "dynamo-lint", 10]],
    );
  });

  test("tells what is compiled, and tells it anew after an edit that is not saved", async () => {
    const regions = () => connection.sendRequest<ProjectRegions[]>(REGIONS_METHOD, {});
    const shown = async () =>
      tree(await regions()).map(({ label, description, children }) => [
        `${label} ${description}`,
        ...children.map((child) => `${child.label} ${child.description}`),
      ]);
    assert.deepEqual(await shown(), [["MoE train.py:5", "MoE.forward moe.py:10"]]);
    await connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri: uri("train.py"), languageId: "python", version: 1, text: TRAIN },
    });
    await connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri: uri("train.py"), version: 2 },
      contentChanges: [{ text: TRAIN.replace("model.compile()", "pass") }],
    });
    assert.deepEqual(await shown(), []);
    assert.deepEqual(await diagnostics(connection, uri("moe.py")), []);
  });

  test("judges the cells of a notebook", async () => {
    const cell = (number: number) =>
      `vscode-notebook-cell:${uri("n.ipynb").slice("file:".length)}#${String(number)}`;
    const codes = [MOE, CALLS];
    await connection.sendNotification(DidOpenNotebookDocumentNotification.type, {
      notebookDocument: {
        uri: uri("n.ipynb"),
        notebookType: "jupyter-notebook",
        version: 1,
        cells: codes.map((_, number) => ({ kind: NotebookCellKind.Code, document: cell(number) })),
      },
      cellTextDocuments: codes.map((text, number) => ({
        uri: cell(number),
        languageId: "python",
        version: 1,
        text,
      })),
    });
    const [finding] = await diagnostics(connection, cell(0));
    assert.equal(finding?.code, "DYN101");
  });
});

describe("the program", () => {
  test("is of a version that the extension works with", async () => {
    const version = await versionOf(PROGRAM, surroundings);
    assert.ok(version !== undefined && !isOlder(version, OLDEST));
  });

  test("prints the pages of its rules", async () => {
    const rules = parseRules(await output(PROGRAM, RULE_ARGUMENTS, surroundings));
    assert.ok(rules.find(({ code }) => code === "DYN101")?.body.startsWith("# DYN101"));
  });

  test("without the language server says what to install, and is not started again", async () => {
    const missing = path.join(folder, "missing");
    mkdirSync(path.join(missing, "pygls"), { recursive: true });
    writeFileSync(
      path.join(missing, "pygls/__init__.py"),
      `raise ModuleNotFoundError("No module named 'pygls'", name="pygls")`,
    );
    const env = { ...surroundings.env, PYTHONPATH: `${missing}${path.delimiter}${ROOT}` };
    const { ending } = await startServer(PROGRAM, [], { cwd: folder, env });
    const trouble = ended(PROGRAM, await ending);
    assert.match(trouble.message, /without its language server.*pip install 'dynamo-lint\[lsp\]'/);
    assert.deepEqual(trouble.install, [PYTHON, "-m", "pip", "install", "dynamo-lint[lsp]"]);
    assert.ok(isFinal(await ending));
  });

  test("that does not exist is told as that", async () => {
    const nothing: Program = { command: path.join(folder, "nothing"), prefix: [], origin: "setting" };
    assert.equal(await versionOf(nothing, surroundings), undefined);
    await assert.rejects(startServer(nothing, [], surroundings), /ENOENT/);
  });
});

function uri(name: string): string {
  return pathToFileURL(path.join(project, name)).href;
}

async function diagnostics(connection: ProtocolConnection, document: string): Promise<Diagnostic[]> {
  const params = { textDocument: { uri: document } };
  const report = await connection.sendRequest(DocumentDiagnosticRequest.type, params);
  return (report as FullDocumentDiagnosticReport).items;
}
