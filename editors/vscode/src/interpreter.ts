// The interpreter that the Python extension selected.
import { PVSC_EXTENSION_ID, PythonExtension } from "@vscode/python-extension";
import * as vscode from "vscode";

/** Its path; undefined without the extension, or if none is selected. */
export async function activeInterpreter(log: vscode.LogOutputChannel): Promise<string | undefined> {
  if (vscode.extensions.getExtension(PVSC_EXTENSION_ID) === undefined) {
    return undefined;
  }
  try {
    const { environments } = await PythonExtension.api();
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const environment = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(folder));
    return environment?.executable.uri?.fsPath;
  } catch (error) {
    log.warn(`The Python extension does not say which interpreter it uses: ${String(error)}`);
    return undefined;
  }
}

/** Calls back when another interpreter is selected. */
export async function onOtherInterpreter(changed: () => void): Promise<vscode.Disposable> {
  if (vscode.extensions.getExtension(PVSC_EXTENSION_ID) === undefined) {
    return new vscode.Disposable(() => undefined);
  }
  const { environments } = await PythonExtension.api();
  return environments.onDidChangeActiveEnvironmentPath(changed);
}
