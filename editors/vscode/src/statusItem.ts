// The item in the status bar.
import * as vscode from "vscode";
import { counts } from "./diagnostics";
import { type Session } from "./session";
import { status } from "./status";

export function createStatusItem(session: Session): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("dynamo-lint.status", vscode.StatusBarAlignment.Right);
  item.name = "dynamo-lint";
  item.command = "dynamo-lint.showOutput";
  const update = () => {
    const { text, tooltip, isError } = status(session.state, counts());
    item.text = text;
    item.tooltip = tooltip;
    item.backgroundColor = isError ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
  };
  update();
  item.show();
  return vscode.Disposable.from(
    item,
    session.onDidChangeState(update),
    vscode.languages.onDidChangeDiagnostics(update),
  );
}
