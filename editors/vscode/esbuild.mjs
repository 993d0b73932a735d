// The extension as one file; with `--tests` the tests, each as one file.
import { readdirSync, rmSync } from "node:fs";
import { build } from "esbuild";

const forTests = process.argv.includes("--tests");
const isProduction = process.argv.includes("--production");
const folder = forTests ? "out/test" : "dist";
const entries = forTests
  ? readdirSync("test")
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => `test/${name}`)
  : ["src/extension.ts"];

rmSync(folder, { recursive: true, force: true });
await build({
  entryPoints: entries,
  outdir: folder,
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  ...(forTests ? { alias: { vscode: "./test/fake/vscode.ts" } } : { external: ["vscode"] }),
  minify: isProduction,
  sourcemap: !isProduction,
  logLevel: "warning",
});
