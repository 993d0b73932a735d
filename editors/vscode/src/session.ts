// The server and the connection to it: found, started, restarted, stopped.
import { statSync } from "node:fs";
import { homedir } from "node:os";
import * as vscode from "vscode";
import {
  CloseAction,
  type CloseHandlerResult,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  RevealOutputChannelOn,
  State as ClientState,
} from "vscode-languageclient/node";
import { type Program, programs, shown } from "./command";
import { activeInterpreter } from "./interpreter";
import { type Running, startServer, type Surroundings, versionOf } from "./processes";
import { REGIONS_METHOD, type ProjectRegions } from "./regions";
import { Restarts } from "./restarts";
import { type State } from "./status";
import { TraceChannel } from "./traceChannel";
import { type Ending, ended, isFinal, notFound, tooOld, type Trouble } from "./trouble";
import { isOlder, OLDEST, text } from "./version";

const STOP_MS = 2000;
/** Milliseconds that a process has to end behind its stdout. */
const END_MS = 2000;

interface Found {
  readonly program: Program;
  readonly version: string;
}

/** A client that writes its errors and shows none: the session says what is wrong, once and with a way out. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

export class Session implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<State>();
  private readonly failed = new vscode.EventEmitter<Trouble>();
  private readonly messages = new TraceChannel();
  private client: LanguageClient | undefined;
  private found: Found | undefined;
  private queue: Promise<void> = Promise.resolve();
  private current: State = { kind: "off" };

  readonly onDidChangeState = this.changed.event;
  /** The user must put something right. */
  readonly onDidFail = this.failed.event;

  constructor(
    private readonly log: vscode.LogOutputChannel,
    /** Programs are started in the folder of the extension: `python -m` imports from where it is started. */
    readonly surroundings: Surroundings,
  ) {}

  get state(): State {
    return this.current;
  }

  /** The program that the server is, whether or not it runs. */
  get program(): Program | undefined {
    return this.found?.program;
  }

  /** Stop what runs and start what the settings ask for; one such change at a time. */
  restart(): Promise<void> {
    return this.enqueue(async () => {
      await this.stopClient();
      await this.start();
    });
  }

  stop(): Promise<void> {
    return this.enqueue(() => this.stopClient());
  }

  /** What is compiled; undefined without a server. Raises what the request raises. */
  async regions(): Promise<ProjectRegions[] | undefined> {
    const { client } = this;
    return client?.state === ClientState.Running
      ? await client.sendRequest<ProjectRegions[]>(REGIONS_METHOD, {})
      : undefined;
  }

  dispose(): void {
    this.changed.dispose();
    this.failed.dispose();
    this.messages.dispose();
  }

  private enqueue(work: () => Promise<void>): Promise<void> {
    this.queue = this.queue.then(work).catch((error: unknown) => {
      this.fail({ message: `dynamo-lint could not be started: ${messageOf(error)}` });
    });
    return this.queue;
  }

  private async start(): Promise<void> {
    const settings = vscode.workspace.getConfiguration("dynamo-lint");
    if (!settings.get<boolean>("enable", true)) {
      this.become({ kind: "off" });
      return;
    }
    this.become({ kind: "starting" });
    const found = await this.find(settings.get("path", ""));
    if ("message" in found) {
      this.fail(found);
      return;
    }
    this.found = found;
    this.log.info(`Starting ${shown(found.program)} server (version ${found.version}).`);
    await this.connect(found, settings.get<string[]>("arguments", []));
  }

  /** The first program that answers as dynamo-lint. */
  private async find(setting: string): Promise<Found | Trouble> {
    const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
    const interpreter = await activeInterpreter(this.log);
    const choices = programs({
      setting,
      interpreter,
      searchPath: process.env.PATH ?? "",
      home: homedir(),
      platform: process.platform,
      folders,
      isTrusted: vscode.workspace.isTrusted,
      isFile: (file) => statSync(file, { throwIfNoEntry: false })?.isFile() ?? false,
    });
    let trouble = notFound(choices, interpreter);
    for (const program of choices) {
      const version = await versionOf(program, this.surroundings);
      if (version === undefined) {
        this.log.info(`No dynamo-lint at ${shown(program)} (${program.origin}).`);
      } else if (isOlder(version, OLDEST)) {
        trouble = tooOld(program, version);
      } else {
        return { program, version: text(version) };
      }
    }
    return trouble;
  }

  private async connect(found: Found, args: readonly string[]): Promise<void> {
    let running: Running | undefined;
    let explained = false;
    const restarts = new Restarts();
    const start = async () => {
      running = await startServer(found.program, args, this.surroundings);
      return running.process;
    };
    const closed = async (): Promise<CloseHandlerResult> => {
      const ending = await endingOf(running);
      const trouble = ended(found.program, ending);
      if (!isFinal(ending) && restarts.isAllowed(Date.now())) {
        return {
          action: CloseAction.Restart,
          message: `${trouble.message} It is started again.`,
          handled: true,
        };
      }
      explained = true;
      this.fail(trouble);
      return { action: CloseAction.DoNotRestart, message: trouble.message, handled: true };
    };
    const options: LanguageClientOptions = {
      documentSelector: [
        { scheme: "file", language: "python" },
        { notebook: "jupyter-notebook", language: "python" },
      ],
      outputChannel: this.log,
      traceOutputChannel: this.messages,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      errorHandler: { error: () => ({ action: ErrorAction.Continue, handled: true }), closed },
      initializationFailedHandler: () => false,
    };
    const client = new QuietClient("dynamo-lint", "dynamo-lint", start, options);
    let reason = "the output says why";
    const failUnlessExplained = () => {
      if (!explained && this.client === client && client.state === ClientState.StartFailed) {
        this.fail({ message: `dynamo-lint could not be started: ${reason}` });
      }
    };
    client.onDidChangeState(({ newState }) => {
      if (this.client !== client) {
        return;
      }
      if (newState === ClientState.Running) {
        this.become({ kind: "running", version: found.version });
      } else if (newState === ClientState.Starting) {
        this.become({ kind: "starting" });
      } else if (newState === ClientState.StartFailed) {
        // If the process has ended, `closed` is about to say why.
        setTimeout(failUnlessExplained, 2 * END_MS);
      }
    });
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      reason = messageOf(error);
    }
  }

  private async stopClient(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    try {
      await client?.dispose(STOP_MS);
    } catch (error) {
      this.log.debug(`The server did not stop in order: ${messageOf(error)}`);
    }
  }

  private become(state: State): void {
    this.current = state;
    this.changed.fire(state);
  }

  private fail(trouble: Trouble): void {
    this.log.error(trouble.message);
    this.become({ kind: "failed", message: trouble.message });
    this.failed.fire(trouble);
  }
}

/** How a server has ended; one that does not end though it has closed its stdout counts as ended. */
async function endingOf(running: Running | undefined): Promise<Ending> {
  const late: Ending = { code: null, stderr: "" };
  const patience = new Promise<Ending>((resolve) => setTimeout(resolve, END_MS, late));
  return running === undefined ? late : await Promise.race([running.ending, patience]);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
