// The page of a rule, as the installed dynamo-lint has it.
import * as vscode from "vscode";
import { codesIn } from "./diagnostics";
import { output } from "./processes";
import { ordered, parseRules, RULE_ARGUMENTS, type Rule } from "./rules";
import { type Session } from "./session";

const SCHEME = "dynamo-lint-rule";

export class RulePages implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  private readonly pages = new Map<string, Rule>();

  constructor(private readonly session: Session) {}

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.pages.get(uri.path)?.body ?? "";
  }

  /** Show the page of a rule; without a code the user chooses, from those with findings here first. */
  async show(code?: string): Promise<void> {
    const { program, surroundings } = this.session;
    if (program === undefined) {
      void vscode.window.showErrorMessage(
        "The rules are those of the installed dynamo-lint, which was not found.",
      );
      return;
    }
    const rules = parseRules(await output(program, RULE_ARGUMENTS, surroundings));
    const rule = code === undefined ? await choose(rules) : rules.find((one) => one.code === code);
    if (rule !== undefined) {
      const uri = vscode.Uri.from({ scheme: SCHEME, path: `${rule.code}-${rule.name}.md` });
      this.pages.set(uri.path, rule);
      await vscode.commands.executeCommand("markdown.showPreview", uri);
    }
  }

  dispose(): void {
    this.registration.dispose();
  }
}

async function choose(rules: readonly Rule[]): Promise<Rule | undefined> {
  const document = vscode.window.activeTextEditor?.document;
  const reported = document === undefined ? new Set<string>() : codesIn(document.uri);
  const items = ordered(rules, reported).map((rule) => ({
    label: rule.code,
    description: reported.has(rule.code) ? `${rule.name} (reported here)` : rule.name,
    detail: rule.summary,
    rule,
  }));
  const options = { placeHolder: "Code or name of a rule", matchOnDescription: true, matchOnDetail: true };
  return (await vscode.window.showQuickPick(items, options))?.rule;
}
