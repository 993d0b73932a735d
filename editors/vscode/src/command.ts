// Which programs may be the server, best first.
import * as path from "node:path";

/** A way to start dynamo-lint; `prefix` stands before the arguments of dynamo-lint itself. */
export interface Program {
  readonly command: string;
  readonly prefix: readonly string[];
  readonly origin: "setting" | "interpreter" | "PATH";
}

/** All that decides which program is started. */
export interface Situation {
  /** The setting `dynamo-lint.path`. */
  readonly setting: string;
  /** The interpreter that the Python extension selected. */
  readonly interpreter: string | undefined;
  /** The variable `PATH`. */
  readonly searchPath: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** The folders of the workspace. */
  readonly folders: readonly string[];
  readonly isTrusted: boolean;
  readonly isFile: (file: string) => boolean;
}

/** The programs to try, best first. A path that the user names is the only one. */
export function programs(situation: Situation): Program[] {
  const setting = situation.setting.trim();
  if (setting !== "") {
    return [{ command: expanded(setting, situation), prefix: [], origin: "setting" }];
  }
  const choices: Program[] = [];
  const { interpreter } = situation;
  if (interpreter !== undefined && isAllowed(interpreter, situation)) {
    choices.push({ command: interpreter, prefix: ["-m", "dynamo_lint"], origin: "interpreter" });
  }
  const onPath = findOnPath(situation);
  if (onPath !== undefined) {
    choices.push({ command: onPath, prefix: [], origin: "PATH" });
  }
  return choices;
}

/** A program as a person would type it. */
export function shown(program: Program): string {
  return [program.command, ...program.prefix].join(" ");
}

/** A path of the settings: with `~` and `${workspaceFolder}`, and relative to the first folder. */
function expanded(setting: string, situation: Situation): string {
  const paths = pathsOf(situation);
  const [folder] = situation.folders;
  let file = setting.replace(/^~(?=$|[\\/])/, () => situation.home);
  if (folder !== undefined) {
    file = file.replaceAll("${workspaceFolder}", () => folder);
    if (/[\\/]/.test(file) && !paths.isAbsolute(file)) {
      file = paths.join(folder, file);
    }
  }
  // A bare name is looked up here, because Windows would look into the working directory first.
  return /[\\/]/.test(file) ? file : (findOnPath(situation, file) ?? file);
}

function findOnPath(situation: Situation, name = "dynamo-lint"): string | undefined {
  const paths = pathsOf(situation);
  const names = situation.platform === "win32" && !/\.exe$/i.test(name) ? [`${name}.exe`] : [name];
  for (const entry of situation.searchPath.split(paths.delimiter)) {
    const folder = entry.replace(/^"(.*)"$/, "$1");
    for (const file of names.map((one) => paths.join(folder, one))) {
      if (paths.isAbsolute(folder) && isAllowed(file, situation) && situation.isFile(file)) {
        return file;
      }
    }
  }
  return undefined;
}

/** Whether a program may be started: in an untrusted workspace none that lies in it. */
function isAllowed(file: string, situation: Situation): boolean {
  if (situation.isTrusted) {
    return true;
  }
  const paths = pathsOf(situation);
  return situation.folders.every((folder) => {
    const way = paths.relative(folder, file);
    return way === ".." || way.startsWith(`..${paths.sep}`) || paths.isAbsolute(way);
  });
}

function pathsOf(situation: Situation): path.PlatformPath {
  return situation.platform === "win32" ? path.win32 : path.posix;
}
