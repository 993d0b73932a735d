// The extension: what VS Code starts, and what it offers.
import * as vscode from "vscode";
import { onOtherInterpreter } from "./interpreter";
import { openPlace, RegionsView } from "./regionsView";
import { RulePages } from "./rulePages";
import { Session } from "./session";
import { createStatusItem } from "./statusItem";
import { commandLine, type Trouble } from "./trouble";

const STARTING = ["dynamo-lint.enable", "dynamo-lint.path", "dynamo-lint.arguments"];

let session: Session | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("dynamo-lint", { log: true });
  const current = new Session(log, { cwd: context.extensionPath });
  session = current;
  const restart = () => void current.restart();
  const rules = new RulePages(current);
  const regions = new RegionsView(current, log);
  const { registerCommand, executeCommand } = vscode.commands;
  context.subscriptions.push(
    log,
    current,
    rules,
    regions,
    createStatusItem(current),
    current.onDidFail((trouble) => void explain(trouble, log)),
    current.onDidChangeState(({ kind }) => {
      void executeCommand("setContext", "dynamo-lint.isRunning", kind === "running");
    }),
    registerCommand("dynamo-lint.restart", () => current.restart()),
    registerCommand("dynamo-lint.showOutput", () => {
      log.show();
    }),
    registerCommand("dynamo-lint.showRule", (code?: string) => rules.show(code)),
    registerCommand("dynamo-lint.showRegions", () => executeCommand("dynamo-lint.regions.focus")),
    registerCommand("dynamo-lint.refreshRegions", () => regions.refresh()),
    registerCommand("dynamo-lint.openPlace", openPlace),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (STARTING.some((setting) => event.affectsConfiguration(setting))) {
        restart();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
  );
  await current.restart();
  context.subscriptions.push(await onOtherInterpreter(restart));
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}

/** Tell the user what is wrong, with what can be done about it. */
async function explain({ message, install }: Trouble, log: vscode.LogOutputChannel): Promise<void> {
  const actions = new Map<string, () => unknown>();
  if (install !== undefined) {
    actions.set("Install…", () => {
      // Typed and not run: whether this is the right environment, the user knows.
      const terminal = vscode.window.createTerminal("dynamo-lint");
      terminal.show();
      terminal.sendText(commandLine(install, process.platform), false);
    });
  }
  actions.set("Open Settings", () =>
    vscode.commands.executeCommand("workbench.action.openSettings", "@ext:dynamo-lint.dynamo-lint"),
  );
  actions.set("Show Output", () => {
    log.show();
  });
  const chosen = await vscode.window.showErrorMessage(message, ...actions.keys());
  if (chosen !== undefined) {
    await actions.get(chosen)?.();
  }
}
