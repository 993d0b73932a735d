// The extension with a stand-in for VS Code, and with the real server.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, afterEach, beforeEach, describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import type * as vscode from "vscode";
import { activate, deactivate } from "../src/extension";
import { fake } from "./fake/state";

const ROOT = path.resolve("../..");
const OWN = path.join(ROOT, ".venv/bin/python");
const PYTHON = process.env.DYNAMO_LINT_PYTHON ?? (existsSync(OWN) ? OWN : "python3");
const folder = mkdtempSync(path.join(tmpdir(), "dynamo-lint-"));
const bin = path.join(folder, "bin");
const project = path.join(folder, "project");

mkdirSync(bin);
mkdirSync(project);
writeFileSync(path.join(project, "a.py"), "import torch\n\n\n@torch.compile\ndef f(x):\n    return x\n");
script("dynamo-lint", `echo $$ > "${path.join(folder, "pid")}"; exec "${PYTHON}" -m dynamo_lint "$@"`);
script("refusing", `[ "$1" = --version ] && echo dynamo-lint 0.1.0 && exit; echo wrong >&2; exit 2`);
script("crashing", `[ "$1" = --version ] && echo dynamo-lint 0.1.0 && exit; echo broken >&2; exit 1`);
script("old", "echo dynamo-lint 0.0.9");
process.env.PYTHONPATH = ROOT;
process.env.XDG_CACHE_HOME = path.join(folder, "cache");

let context: { extensionPath: string; subscriptions: { dispose(): unknown }[] };

beforeEach(() => {
  context = { extensionPath: folder, subscriptions: [] };
  fake.settings.clear();
  fake.folders = [project];
  fake.isTrusted = true;
  fake.messages.length = 0;
  fake.log.length = 0;
});

afterEach(async () => {
  await deactivate();
  context.subscriptions.forEach((subscription) => subscription.dispose());
});

after(() => {
  rmSync(folder, { recursive: true });
});

describe("the extension", () => {
  test("starts the server that the setting names, shows what is compiled, and restarts", async () => {
    fake.settings.set("path", path.join(bin, "dynamo-lint"));
    await start();
    assert.match(fake.status.text, /^dynamo-lint \$\(check\)$/, fake.log.join("\n"));
    await fake.commands.get("dynamo-lint.refreshRegions")?.();
    const provider = fake.view.provider as vscode.TreeDataProvider<{ label: string }>;
    const nodes = (await provider.getChildren()) ?? [];
    assert.deepEqual(
      nodes.map(({ label }) => label),
      ["f"],
    );
    await fake.commands.get("dynamo-lint.restart")?.();
    assert.match(fake.status.text, /check/);
    assert.deepEqual(fake.messages, []);
  });

  test("says what to do if there is no program", async () => {
    fake.settings.set("path", path.join(bin, "nothing"));
    await start();
    assert.match(fake.status.text, /\$\(error\)/);
    assert.equal(fake.messages.length, 1);
    assert.match(fake.messages[0]?.message ?? "", /which the setting dynamo-lint\.path names/);
    assert.deepEqual(fake.messages[0]?.actions, ["Open Settings", "Show Output"]);
  });

  test("starts a server again that was ended", async () => {
    fake.settings.set("path", path.join(bin, "dynamo-lint"));
    await start();
    const pid = () => readFileSync(path.join(folder, "pid"), "utf8");
    const before = pid();
    process.kill(Number(before), "SIGKILL");
    await until(() => pid() !== before && fake.status.text.includes("check"));
    assert.deepEqual(fake.messages, []);
  });

  test("says once why the server refuses to start, and leaves it alone", async () => {
    fake.settings.set("path", path.join(bin, "refusing"));
    await start();
    await until(() => fake.messages.length > 0);
    assert.equal(fake.messages[0]?.message, "The server of dynamo-lint ended with status 2: wrong");
    assert.match(fake.status.text, /\$\(error\)/);
    assert.equal(restarted(), 0);
  });

  test("starts a server that crashes a few times, and says so once", async () => {
    fake.settings.set("path", path.join(bin, "crashing"));
    await start();
    await until(() => fake.messages.length > 0);
    assert.deepEqual(
      fake.messages.map((shown) => shown.message),
      ["The server of dynamo-lint ended with status 1: broken"],
    );
    assert.equal(restarted(), 4);
  });

  test("says that a program is too old", async () => {
    fake.settings.set("path", path.join(bin, "old"));
    await start();
    assert.match(fake.messages[0]?.message ?? "", /0\.0\.9 .* is older than/);
  });

  test("looks for the program on PATH, and in an untrusted workspace not in the workspace", async () => {
    const { PATH } = process.env;
    process.env.PATH = bin;
    try {
      fake.folders = [folder];
      fake.isTrusted = false;
      await start();
      assert.match(fake.messages[0]?.message ?? "", /was not found on PATH/);
      assert.deepEqual(fake.messages[0]?.actions, ["Install…", "Open Settings", "Show Output"]);
      fake.isTrusted = true;
      await fake.commands.get("dynamo-lint.restart")?.();
      assert.match(fake.status.text, /check/);
    } finally {
      process.env.PATH = PATH;
    }
  });

  test("starts nothing if it is off", async () => {
    fake.settings.set("enable", false);
    await start();
    assert.match(fake.status.text, /circle-slash/);
    assert.deepEqual(fake.messages, []);
  });
});

async function start(): Promise<void> {
  await activate(context as unknown as vscode.ExtensionContext);
}

/** How often a server that had ended was started again. */
function restarted(): number {
  return fake.log.filter((line) => line.includes("It is started again")).length;
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) {
    await setTimeout(20);
  }
}

function script(name: string, command: string): void {
  // With the PATH of now: a test takes it away, and the interpreter may be named by its name alone.
  writeFileSync(path.join(bin, name), `#!/bin/sh\nPATH="${process.env.PATH ?? ""}"\n${command}\n`);
  chmodSync(path.join(bin, name), 0o755);
}
