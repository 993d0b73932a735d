// Why the server does not run, and what to do about it.
import { type Program, shown } from "./command";
import { OLDEST, type Version, text } from "./version";

/** How a process ended, and the end of what it wrote to stderr. */
export interface Ending {
  readonly code: number | null;
  readonly stderr: string;
}

/** A message for the user, with the command that installs what is missing if that is the way out. */
export interface Trouble {
  readonly message: string;
  readonly install?: readonly string[];
}

const REQUIREMENT = "dynamo-lint[lsp]";

/** No program answered; `interpreter` is the one that the Python extension selected. */
export function notFound(tried: readonly Program[], interpreter: string | undefined): Trouble {
  const [first] = tried;
  if (first?.origin === "setting") {
    return {
      message: `dynamo-lint could not be started as "${first.command}", which the setting dynamo-lint.path names. Correct the setting, or empty it to use the interpreter of the workspace.`,
    };
  }
  const place = interpreter === undefined ? "on PATH" : `in ${interpreter}, nor on PATH`;
  return {
    message: `dynamo-lint was not found ${place}. Install it with \`pip install '${REQUIREMENT}'\`, or set dynamo-lint.path.`,
    install: installation(interpreter),
  };
}

/** The program is of a version that lacks what the extension asks for. */
export function tooOld(program: Program, version: Version): Trouble {
  return {
    message: `dynamo-lint ${text(version)} (${shown(program)}) is older than ${text(OLDEST)}, which this extension needs. Upgrade it with \`pip install --upgrade '${REQUIREMENT}'\`.`,
    install: installation(interpreterOf(program), "--upgrade"),
  };
}

/** The server has ended by itself. */
export function ended(program: Program, ending: Ending): Trouble {
  if (isWithoutServer(ending)) {
    return {
      message: `dynamo-lint (${shown(program)}) is installed without its language server. Install that with \`pip install '${REQUIREMENT}'\` into the same environment.`,
      install: installation(interpreterOf(program)),
    };
  }
  const last = ending.stderr.trim().split("\n").at(-1) ?? "";
  const how = ending.code === null ? "was ended" : `ended with status ${String(ending.code)}`;
  return { message: `The server of dynamo-lint ${how}${last === "" ? "." : `: ${last}`}` };
}

/** Whether starting the server again is no use: a part is missing, or it was called in a wrong way. */
export function isFinal(ending: Ending): boolean {
  return ending.code === 2 || isWithoutServer(ending);
}

function isWithoutServer(ending: Ending): boolean {
  return ending.stderr.includes(REQUIREMENT) || /No module named '?(pygls|lsprotocol)/.test(ending.stderr);
}

function interpreterOf(program: Program): string | undefined {
  return program.origin === "interpreter" ? program.command : undefined;
}

function installation(interpreter: string | undefined, ...options: string[]): string[] {
  const pip = interpreter === undefined ? ["pip"] : [interpreter, "-m", "pip"];
  return [...pip, "install", ...options, REQUIREMENT];
}

/** A command for a shell, in which each word that needs it is quoted. */
export function commandLine(words: readonly string[], platform: NodeJS.Platform): string {
  const quoted = words.map((word) => {
    if (/^[\w@%+=:,./\\-]+$/.test(word) && (platform === "win32" || !word.includes("\\"))) {
      return word;
    }
    return platform === "win32" ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`;
  });
  // PowerShell takes a quoted word that comes first for a text.
  return (platform === "win32" && quoted[0]?.startsWith('"') ? "& " : "") + quoted.join(" ");
}
