// Starting programs: to ask for something, and as the server.
import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { promisify } from "node:util";
import { type Program } from "./command";
import { type Ending } from "./trouble";
import { parseVersion, type Version } from "./version";

const execute = promisify(execFile);
const PATIENCE_MS = 30_000;
const LONGEST_OUTPUT = 64 * 1024 * 1024;
const LONGEST_STDERR = 4000;

/** Where programs are started: never in a workspace, from which `python -m` would import. */
export interface Surroundings {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** What a program prints; raises an `Error` if it cannot be started or fails. */
export async function output(
  program: Program,
  args: readonly string[],
  { cwd, env }: Surroundings,
): Promise<string> {
  const options = { cwd, env, timeout: PATIENCE_MS, maxBuffer: LONGEST_OUTPUT, windowsHide: true };
  return (await execute(program.command, [...program.prefix, ...args], options)).stdout;
}

/** The version of a program; undefined if it is not dynamo-lint, or none at all. */
export async function versionOf(program: Program, surroundings: Surroundings): Promise<Version | undefined> {
  try {
    return parseVersion(await output(program, ["--version"], surroundings));
  } catch {
    return undefined;
  }
}

/** A server that runs, and how it will have ended. */
export interface Running {
  readonly process: ChildProcessWithoutNullStreams;
  readonly ending: Promise<Ending>;
}

/** Start the server; raises an `Error` if there is no such program. */
export function startServer(
  program: Program,
  args: readonly string[],
  { cwd, env }: Surroundings,
): Promise<Running> {
  const server = spawn(program.command, [...program.prefix, "server", ...args], {
    cwd,
    env,
    windowsHide: true,
  });
  let stderr = "";
  server.stderr.on("data", (data: Buffer) => {
    stderr = (stderr + data.toString()).slice(-LONGEST_STDERR);
  });
  const ending = new Promise<Ending>((resolve) => {
    server.once("close", (code) => {
      resolve({ code, stderr });
    });
  });
  return new Promise((resolve, reject) => {
    server.once("spawn", () => {
      resolve({ process: server, ending });
    });
    server.once("error", reject);
  });
}
