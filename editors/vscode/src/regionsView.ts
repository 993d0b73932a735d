// The tree view of what is compiled.
import * as vscode from "vscode";
import { LSPErrorCodes, ResponseError } from "vscode-languageclient/node";
import { type Node, tree } from "./regions";
import { type Session } from "./session";

const PAUSE_MS = 500;
const ICONS: Record<Node["icon"], string> = {
  folder: "root-folder",
  entry: "zap",
  function: "symbol-method",
  question: "question",
  skipped: "circle-slash",
};

export class RegionsView implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly view: vscode.TreeView<Node>;
  private readonly disposables: { dispose(): unknown }[];
  private nodes: readonly Node[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isOutdated = true;
  /** The number of requests; the answer to an older one than the last is not shown. */
  private requests = 0;

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly session: Session,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.view = vscode.window.createTreeView("dynamo-lint.regions", { treeDataProvider: this });
    this.disposables = [
      this.changed,
      this.view,
      this.view.onDidChangeVisibility(() => {
        if (this.isOutdated) {
          this.refreshSoon();
        }
      }),
      session.onDidChangeState(() => {
        this.refreshSoon();
      }),
      vscode.languages.onDidChangeDiagnostics(() => {
        this.refreshSoon();
      }),
      // An edit can change what is compiled and no finding.
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (document.languageId === "python" && contentChanges.length > 0) {
          this.refreshSoon();
        }
      }),
    ];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const { Collapsed, None } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(node.label, node.children.length > 0 ? Collapsed : None);
    item.id = node.id;
    item.description = node.description;
    item.tooltip = node.tooltip;
    item.iconPath = new vscode.ThemeIcon(ICONS[node.icon]);
    if (node.place !== undefined) {
      item.command = { command: "dynamo-lint.openPlace", title: "Open", arguments: [node.place] };
    }
    return item;
  }

  getChildren(node?: Node): Node[] {
    return [...(node?.children ?? this.nodes)];
  }

  /** Ask again, a moment after the last change, and only while somebody looks. */
  refreshSoon(): void {
    this.isOutdated = true;
    clearTimeout(this.timer);
    if (this.view.visible) {
      this.timer = setTimeout(() => void this.refresh(), PAUSE_MS);
    }
  }

  async refresh(): Promise<void> {
    clearTimeout(this.timer);
    const request = ++this.requests;
    this.isOutdated = false;
    try {
      const projects = await this.session.regions();
      if (request === this.requests) {
        this.nodes = tree(projects ?? []);
        this.changed.fire(undefined);
      }
    } catch (error) {
      if (error instanceof ResponseError && error.code === LSPErrorCodes.ContentModified) {
        this.refreshSoon();
      } else {
        this.log.warn(`The server does not say what is compiled: ${String(error)}`);
      }
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.disposables).dispose();
  }
}

/** Show a line of a file, or the cell of a notebook. */
export async function openPlace({ root, at }: NonNullable<Node["place"]>): Promise<void> {
  const uri = vscode.Uri.joinPath(vscode.Uri.parse(root, true), at.path);
  if (at.cell !== null) {
    const notebook = await vscode.workspace.openNotebookDocument(uri);
    const selections = [new vscode.NotebookRange(at.cell - 1, at.cell)];
    await vscode.window.showNotebookDocument(notebook, { selections });
  } else {
    const start = new vscode.Position(at.line - 1, 0);
    await vscode.window.showTextDocument(uri, { selection: new vscode.Range(start, start) });
  }
}
