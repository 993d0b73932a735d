import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";

interface Manifest {
  capabilities: { untrustedWorkspaces: { supported: string; restrictedConfigurations: string[] } };
  contributes: { commands: { command: string }[]; configuration: { properties: Record<string, unknown> } };
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const readme = readFileSync("README.md", "utf8");
const sources = readdirSync("src").map((name) => readFileSync(`src/${name}`, "utf8"));

describe("the manifest", () => {
  test("keeps what starts a program out of the hands of an untrusted workspace", () => {
    const { supported, restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
    assert.equal(supported, "limited");
    assert.deepEqual(restrictedConfigurations, ["dynamo-lint.path", "dynamo-lint.arguments"]);
  });

  test("has commands that exist", () => {
    for (const { command } of manifest.contributes.commands) {
      assert.ok(
        sources.some((source) => source.includes(`registerCommand("${command}"`)),
        command,
      );
    }
  });

  test("has settings that README.md explains", () => {
    for (const setting of Object.keys(manifest.contributes.configuration.properties)) {
      assert.ok(readme.includes(`\`${setting}\``), setting);
    }
  });

  test("leaves the modules with the logic free of vscode, so that tests need no display", () => {
    const pure = ["command", "processes", "regions", "restarts", "rules", "status", "trouble", "version"];
    for (const name of pure) {
      assert.doesNotMatch(readFileSync(`src/${name}.ts`, "utf8"), /from "vscode/, name);
    }
  });
});
