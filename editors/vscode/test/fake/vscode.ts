// As much of VS Code as the extension and the client library need to run without a display.
//
// What a test looks at is real: commands, settings, messages, outputs, the tree, the status bar. All else of the API
// answers every call with an object that can be disposed of.
import { fileURLToPath, pathToFileURL } from "node:url";
import { Disposable, EventEmitter, fake } from "./state";

class CancellationTokenSource {
  readonly token = { isCancellationRequested: false, onCancellationRequested: new EventEmitter().event };
  cancel(): void {
    this.token.isCancellationRequested = true;
  }
  dispose(): void {
    this.cancel();
  }
}

class Uri {
  private constructor(private readonly text: string) {}

  static parse(text: string): Uri {
    return new Uri(text);
  }

  static file(path: string): Uri {
    return new Uri(pathToFileURL(path).href);
  }

  get scheme(): string {
    return this.text.slice(0, this.text.indexOf(":"));
  }

  get fsPath(): string {
    return fileURLToPath(this.text);
  }

  toString(): string {
    return this.text;
  }
}

function log(message: unknown): void {
  fake.log.push(String(message));
}

function channel(name: string) {
  const events = new EventEmitter();
  const writers = Object.fromEntries(
    ["append", "appendLine", "trace", "debug", "info", "warn", "error"].map((writer) => [writer, log]),
  );
  return {
    name,
    logLevel: 3,
    onDidChangeLogLevel: events.event,
    show: log,
    dispose: () => undefined,
    ...writers,
  };
}

function message(text: string, ...actions: string[]): Promise<undefined> {
  fake.messages.push({ message: text, actions });
  return Promise.resolve(undefined);
}

/** An object that is any class, any function and any value: each property and each result is one too. */
function anything(): object {
  const target = class {
    dispose(): void {
      return undefined;
    }
  };
  return new Proxy(target, {
    apply: () => anything(),
    get: (of, key, receiver): unknown =>
      key === "then" || key in of ? Reflect.get(of, key, receiver) : anything(),
  });
}

/** The prototype of what is there in part: any other member is anything, and the same each time. */
const others = new Map<string, object>();
const rest: object = new Proxy(
  {},
  {
    get: (_, key): unknown => {
      if (typeof key === "symbol" || key === "then" || key === "__esModule") {
        return undefined;
      }
      others.set(key, others.get(key) ?? anything());
      return others.get(key);
    },
  },
);

function partial(members: object): object {
  return Object.setPrototypeOf(members, rest) as object;
}

const configuration = {
  get: (name: string, otherwise: unknown): unknown => fake.settings.get(name) ?? otherwise,
  inspect: () => undefined,
};

export = partial({
  __esModule: true, // or importers copy what is its own, and not what its prototype has
  version: "1.93.0",
  Disposable,
  EventEmitter,
  CancellationTokenSource,
  Uri,
  LogLevel: { Off: 0, Trace: 1, Debug: 2, Info: 3, Warning: 4, Error: 5 },
  StatusBarAlignment: { Left: 1, Right: 2 },
  TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
  extensions: partial({ getExtension: () => undefined }),
  env: partial({ language: "en", appName: "tests" }),
  commands: partial({
    registerCommand: (name: string, command: (...args: unknown[]) => unknown) => {
      fake.commands.set(name, command);
      return new Disposable(() => fake.commands.delete(name));
    },
    executeCommand: () => Promise.resolve(undefined),
  }),
  languages: partial({ getDiagnostics: () => [], match: () => 0 }),
  window: partial({
    createOutputChannel: channel,
    createStatusBarItem: () => Object.assign(fake.status, { show: log, dispose: () => undefined }),
    createTreeView: (_: string, options: { treeDataProvider: unknown }) => {
      fake.view.provider = options.treeDataProvider;
      return { visible: true, onDidChangeVisibility: new EventEmitter().event, dispose: () => undefined };
    },
    showErrorMessage: message,
    showWarningMessage: message,
    showInformationMessage: message,
    visibleTextEditors: [],
    activeTextEditor: undefined,
  }),
  workspace: partial({
    getConfiguration: () => configuration,
    onDidChangeConfiguration: fake.configurationChanged.event,
    get isTrusted() {
      return fake.isTrusted;
    },
    get workspaceFolders() {
      return fake.folders.map((folder, index) => ({ uri: Uri.file(folder), name: folder, index }));
    },
    textDocuments: [],
    notebookDocuments: [],
  }),
});
