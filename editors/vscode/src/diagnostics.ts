// The findings that VS Code shows.
import * as vscode from "vscode";
import { type Counts } from "./status";

const SOURCE = "dynamo-lint";

export function counts(): Counts {
  const severities = vscode.languages
    .getDiagnostics()
    .flatMap(([, diagnostics]) => diagnostics)
    .filter(({ source }) => source === SOURCE)
    .map(({ severity }) => severity);
  const count = (wanted: vscode.DiagnosticSeverity) => severities.filter((one) => one === wanted).length;
  return {
    errors: count(vscode.DiagnosticSeverity.Error),
    warnings: count(vscode.DiagnosticSeverity.Warning),
    notes: count(vscode.DiagnosticSeverity.Information),
  };
}

/** The codes of the findings in a document. */
export function codesIn(uri: vscode.Uri): Set<string> {
  const diagnostics = vscode.languages.getDiagnostics(uri).filter(({ source }) => source === SOURCE);
  return new Set(diagnostics.map(({ code }) => String(typeof code === "object" ? code.value : code)));
}
