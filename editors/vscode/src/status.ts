// What the item in the status bar says.

export type State =
  | { readonly kind: "off" }
  | { readonly kind: "starting" }
  | { readonly kind: "running"; readonly version: string }
  | { readonly kind: "failed"; readonly message: string };

export interface Counts {
  readonly errors: number;
  readonly warnings: number;
  readonly notes: number;
}

export interface Status {
  readonly text: string;
  readonly tooltip: string;
  readonly isError: boolean;
}

const CLICK = "Click to see the output.";

export function status(state: State, counts: Counts): Status {
  switch (state.kind) {
    case "off":
      return {
        text: "$(circle-slash) dynamo-lint",
        tooltip: "dynamo-lint is off (dynamo-lint.enable).",
        isError: false,
      };
    case "starting":
      return {
        text: "$(loading~spin) dynamo-lint",
        tooltip: `The server is starting. ${CLICK}`,
        isError: false,
      };
    case "failed":
      return { text: "$(error) dynamo-lint", tooltip: `${state.message}\n\n${CLICK}`, isError: true };
    case "running":
      return {
        text: `dynamo-lint ${icons(counts)}`,
        tooltip: running(state.version, counts),
        isError: false,
      };
  }
}

function icons({ errors, warnings, notes }: Counts): string {
  const shown = [
    errors > 0 ? `$(error) ${String(errors)}` : "",
    warnings > 0 ? `$(warning) ${String(warnings)}` : "",
    notes > 0 ? `$(info) ${String(notes)}` : "",
  ].filter((part) => part !== "");
  return shown.length === 0 ? "$(check)" : shown.join(" ");
}

function running(version: string, { errors, warnings, notes }: Counts): string {
  const counts = [counted(errors, "error"), counted(warnings, "warning"), counted(notes, "note")].join(", ");
  return `dynamo-lint ${version}: ${counts}. ${CLICK}`;
}

function counted(count: number, word: string): string {
  return `${String(count)} ${word}${count === 1 ? "" : "s"}`;
}
