import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Program } from "../src/command";
import { Restarts } from "../src/restarts";
import { ordered, parseRules } from "../src/rules";
import { status } from "../src/status";
import { commandLine, ended, isFinal, notFound, tooOld } from "../src/trouble";
import { isOlder, parseVersion } from "../src/version";

const PYTHON: Program = { command: "/v/bin/python", prefix: ["-m", "dynamo_lint"], origin: "interpreter" };
const NAMED: Program = { command: "/opt/d", prefix: [], origin: "setting" };

describe("versions", () => {
  test("are read from what --version prints, and from nothing else", () => {
    assert.deepEqual(parseVersion("dynamo-lint 0.1.0\n"), [0, 1, 0]);
    assert.deepEqual(parseVersion("warning: x\ndynamo-lint 1.12.3rc1\n"), [1, 12, 3]);
    assert.deepEqual(parseVersion("dynamo-lint 2.0"), [2, 0, 0]);
    assert.equal(parseVersion("ruff 0.14.0"), undefined);
  });

  test("are compared as numbers", () => {
    assert.ok(isOlder([0, 9, 0], [0, 10, 0]));
    assert.ok(isOlder([0, 9, 9], [1, 0, 0]));
    assert.ok(!isOlder([0, 1, 0], [0, 1, 0]));
    assert.ok(!isOlder([1, 0, 0], [0, 9, 9]));
  });
});

describe("what is wrong", () => {
  test("a program that is not found is told with where it was looked for, and how to install it", () => {
    const { message, install } = notFound([PYTHON], "/v/bin/python");
    assert.match(message, /not found in \/v\/bin\/python, nor on PATH.*pip install 'dynamo-lint\[lsp\]'/);
    assert.deepEqual(install, ["/v/bin/python", "-m", "pip", "install", "dynamo-lint[lsp]"]);
    assert.deepEqual(notFound([], undefined).install, ["pip", "install", "dynamo-lint[lsp]"]);
  });

  test("a wrong setting is told as that", () => {
    const { message, install } = notFound([NAMED], "/v/bin/python");
    assert.match(message, /"\/opt\/d", which the setting dynamo-lint.path names/);
    assert.equal(install, undefined);
  });

  test("an old version is told with the one that is needed", () => {
    const { message, install } = tooOld(PYTHON, [0, 0, 9]);
    assert.match(message, /dynamo-lint 0\.0\.9 .* is older than 0\.1\.0/);
    assert.ok(install?.includes("--upgrade"));
  });

  test("a server that ends is told with its last line, and is started again unless that is no use", () => {
    const crash = { code: 1, stderr: "Traceback\nValueError: x\n" };
    assert.equal(ended(NAMED, crash).message, "The server of dynamo-lint ended with status 1: ValueError: x");
    assert.equal(ended(NAMED, { code: null, stderr: "" }).message, "The server of dynamo-lint was ended.");
    assert.ok(!isFinal(crash));
    assert.ok(isFinal({ code: 2, stderr: "dynamo-lint: no such option" }));
  });

  test("a command line is quoted for the shell", () => {
    assert.equal(
      commandLine(["pip", "install", "dynamo-lint[lsp]"], "linux"),
      "pip install 'dynamo-lint[lsp]'",
    );
    const windows = ["C:\\a b\\python.exe", "-m", "pip"];
    assert.equal(commandLine(windows, "win32"), '& "C:\\a b\\python.exe" -m pip');
  });

  test("restarts end if there are too many in a while", () => {
    const restarts = new Restarts();
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((time) => restarts.isAllowed(time)),
      [true, true, true, true, false],
    );
    assert.ok(restarts.isAllowed(10 * 60 * 1000));
  });
});

describe("the status bar", () => {
  const none = { errors: 0, warnings: 0, notes: 0 };

  test("shows counts of findings, and a tick without any", () => {
    const running = { kind: "running", version: "0.1.0" } as const;
    const shown = status(running, { errors: 2, warnings: 0, notes: 1 });
    assert.equal(shown.text, "dynamo-lint $(error) 2 $(info) 1");
    assert.match(shown.tooltip, /^dynamo-lint 0\.1\.0: 2 errors, 0 warnings, 1 note\./);
    assert.equal(status(running, none).text, "dynamo-lint $(check)");
  });

  test("shows a failure with its message", () => {
    const shown = status({ kind: "failed", message: "no server" }, none);
    assert.ok(shown.isError);
    assert.match(shown.tooltip, /no server/);
  });

  test("says that it is off or starting", () => {
    assert.match(status({ kind: "off" }, none).tooltip, /dynamo-lint\.enable/);
    assert.match(status({ kind: "starting" }, none).text, /spin/);
  });
});

describe("rules", () => {
  const rules = ["DYN101", "DYN102", "DYN103"].map((code) => ({ code, name: "n", summary: "s", body: "b" }));

  test("are read from JSON, and something else is refused", () => {
    assert.deepEqual(parseRules(JSON.stringify(rules)), rules);
    assert.throws(() => parseRules('[{"code": 1}]'), /something else/);
    assert.throws(() => parseRules("Usage: dynamo-lint"));
  });

  test("with findings come first", () => {
    assert.deepEqual(
      ordered(rules, new Set(["DYN103"])).map(({ code }) => code),
      ["DYN103", "DYN101", "DYN102"],
    );
  });
});
