import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { programs, shown, type Situation } from "../src/command";

const SITUATION: Situation = {
  setting: "",
  interpreter: undefined,
  searchPath: "",
  home: "/home/ada",
  platform: "linux",
  folders: ["/work/project"],
  isTrusted: true,
  isFile: () => true,
};

function commands(situation: Partial<Situation>): string[] {
  return programs({ ...SITUATION, ...situation }).map(shown);
}

describe("which program is the server", () => {
  test("the setting is the only one, whatever else there is", () => {
    const elsewhere = { interpreter: "/usr/bin/python", searchPath: "/usr/bin" };
    assert.deepEqual(commands({ ...elsewhere, setting: " /opt/dynamo-lint " }), ["/opt/dynamo-lint"]);
  });

  test("the setting knows the home and the folder of the workspace", () => {
    assert.deepEqual(commands({ setting: "~/bin/dynamo-lint" }), ["/home/ada/bin/dynamo-lint"]);
    assert.deepEqual(commands({ setting: ".venv/bin/dynamo-lint" }), ["/work/project/.venv/bin/dynamo-lint"]);
    assert.deepEqual(commands({ setting: "${workspaceFolder}/d" }), ["/work/project/d"]);
    assert.deepEqual(commands({ setting: "${workspaceFolder}/d", folders: ["/a/$&"] }), ["/a/$&/d"]);
    assert.deepEqual(commands({ setting: "bin/d", folders: [] }), ["bin/d"]);
  });

  test("a bare name in the setting is looked up on PATH", () => {
    assert.deepEqual(commands({ setting: "lint", searchPath: "/usr/bin" }), ["/usr/bin/lint"]);
    assert.deepEqual(commands({ setting: "lint", isFile: () => false }), ["lint"]);
  });

  test("the selected interpreter comes before PATH", () => {
    assert.deepEqual(commands({ interpreter: "/venv/bin/python", searchPath: "/usr/bin" }), [
      "/venv/bin/python -m dynamo_lint",
      "/usr/bin/dynamo-lint",
    ]);
  });

  test("on PATH the first folder that holds it counts, and relative folders do not", () => {
    const isFile = (file: string) => !file.startsWith("/a/");
    assert.deepEqual(commands({ searchPath: "bin::/a:/b:/c", isFile }), ["/b/dynamo-lint"]);
    assert.deepEqual(commands({ searchPath: "/a", isFile }), []);
  });

  test("an untrusted workspace starts nothing that lies in it", () => {
    const searchPath = "/work/project/bin:/work/project-tools:/usr/bin";
    const interpreter = "/work/project/.venv/bin/python";
    assert.deepEqual(commands({ searchPath, interpreter, isTrusted: false }), [
      "/work/project-tools/dynamo-lint",
    ]);
    assert.deepEqual(commands({ interpreter: "/usr/bin/python", isTrusted: false }), [
      "/usr/bin/python -m dynamo_lint",
    ]);
    assert.equal(commands({ searchPath, interpreter }).length, 2);
  });

  test("on Windows PATH is read as Windows does", () => {
    const windows = { platform: "win32", folders: ["C:\\work"], home: "C:\\Users\\Ada" } as const;
    const searchPath = 'relative;"C:\\Program Files\\Python";C:\\Work\\bin';
    assert.deepEqual(commands({ ...windows, searchPath }), ["C:\\Program Files\\Python\\dynamo-lint.exe"]);
    assert.deepEqual(commands({ ...windows, searchPath: "c:\\Work\\bin", isTrusted: false }), []);
    assert.deepEqual(commands({ ...windows, setting: "~\\d.exe" }), ["C:\\Users\\Ada\\d.exe"]);
  });
});
