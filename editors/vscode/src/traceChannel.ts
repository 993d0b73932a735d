// The output of the messages between client and server, on or off by `dynamo-lint.trace.server` alone.
import * as vscode from "vscode";

/** A channel whose level follows the setting; the client asks the level whether to write. */
export class TraceChannel implements vscode.LogOutputChannel {
  private channel: vscode.OutputChannel | undefined;
  private readonly levelChanged = new vscode.EventEmitter<vscode.LogLevel>();
  private readonly listener = vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration("dynamo-lint.trace.server")) {
      this.levelChanged.fire(this.logLevel);
    }
  });

  readonly name = "dynamo-lint (messages)";
  readonly onDidChangeLogLevel = this.levelChanged.event;

  get logLevel(): vscode.LogLevel {
    const setting = vscode.workspace.getConfiguration("dynamo-lint").get<string>("trace.server", "off");
    return setting === "off" ? vscode.LogLevel.Off : vscode.LogLevel.Trace;
  }

  trace(message: string): void {
    this.appendLine(message);
  }

  debug(message: string): void {
    this.appendLine(message);
  }

  info(message: string): void {
    this.appendLine(message);
  }

  warn(message: string): void {
    this.appendLine(message);
  }

  error(error: string | Error): void {
    this.appendLine(String(error));
  }

  append(value: string): void {
    this.output.append(value);
  }

  appendLine(value: string): void {
    this.output.appendLine(value);
  }

  replace(value: string): void {
    this.output.replace(value);
  }

  clear(): void {
    this.channel?.clear();
  }

  show(): void {
    this.output.show(true);
  }

  hide(): void {
    this.channel?.hide();
  }

  dispose(): void {
    this.listener.dispose();
    this.levelChanged.dispose();
    this.channel?.dispose();
  }

  /** Made when there is something to write, so that no empty output is listed. */
  private get output(): vscode.OutputChannel {
    this.channel ??= vscode.window.createOutputChannel(this.name);
    return this.channel;
  }
}
