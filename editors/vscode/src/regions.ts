// What is compiled, as the server tells it, and the tree that shows it.

export const REGIONS_METHOD = "dynamoLint/regions";

/** A line of a file; of a notebook also the cell, from 1, and the line in it. */
export interface Place {
  readonly path: string;
  readonly line: number;
  readonly cell: number | null;
  readonly cell_line: number | null;
}

export interface Entry extends Place {
  readonly idiom: string;
  readonly target: string;
  readonly confidence: string;
  readonly regional: boolean;
  readonly condition: string | null;
}

export interface CompiledFunction extends Place {
  readonly id: string;
  readonly confidence: string;
  /** Numbers of the entries that compile it. */
  readonly entries: readonly number[];
}

export interface Site extends Place {
  readonly expression: string;
  readonly why: string;
}

export interface UnresolvedSite extends Site {
  readonly kind: string;
}

/** The document of `dynamo-lint regions --output-format json`. */
export interface Regions {
  readonly entries: readonly Entry[];
  readonly functions: readonly CompiledFunction[];
  readonly unresolved: readonly UnresolvedSite[];
  readonly skipped: readonly Site[];
}

/** The answer to the request, for one project. */
export interface ProjectRegions {
  /** The URI of the folder that its paths start at. */
  readonly root: string;
  readonly regions: Regions;
}

export interface Node {
  /** The same for the same thing in a later answer, so that the view keeps what is open. */
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  readonly icon: "folder" | "entry" | "function" | "question" | "skipped";
  readonly place: { readonly root: string; readonly at: Place } | undefined;
  readonly children: readonly Node[];
}

/** The tree: entries with the functions that each compiles; below folders if there are several projects. */
export function tree(projects: readonly ProjectRegions[]): Node[] {
  const shown = projects
    .map(({ root, regions }) => ({ root, nodes: projectNodes(root, regions) }))
    .filter(({ nodes }) => nodes.length > 0);
  if (projects.length < 2) {
    return shown.flatMap(({ nodes }) => nodes);
  }
  return shown.map(({ root, nodes }) => ({
    ...heading(root, decodeURIComponent(root.split("/").at(-1) ?? root), "folder", nodes),
    description: "",
    tooltip: decodeURIComponent(root),
  }));
}

/** `path:line`, and of a notebook its cell and the line there. */
export function placeText({ path, line, cell, cell_line }: Place): string {
  return cell === null || cell_line === null
    ? `${path}:${String(line)}`
    : `${path}:cell ${String(cell)}:${String(cell_line)}`;
}

function projectNodes(root: string, { entries, functions, unresolved, skipped }: Regions): Node[] {
  const identities = new Identities(root);
  const open = unresolved.filter((site) => site.kind === "entry");
  const cut = unresolved.filter((site) => site.kind !== "entry");
  return [
    ...entries.map((entry, number) => {
      const mine = functions.filter((one) => one.entries.includes(number));
      return entryNode(root, entry, mine, identities);
    }),
    ...sites(root, "Could not be resolved", "question", open, identities),
    ...sites(root, "Not followed to the end", "question", cut, identities),
    ...sites(root, "Compile nothing of this code", "skipped", skipped, identities),
  ];
}

function entryNode(
  root: string,
  entry: Entry,
  functions: readonly CompiledFunction[],
  identities: Identities,
): Node {
  const id = identities.next(`entry ${placeText(entry)} ${entry.target}`);
  const about = [
    entry.idiom,
    ...doubt(entry.confidence),
    ...(entry.regional ? ["each instance separately"] : []),
    ...(entry.condition === null ? [] : [`if ${entry.condition}`]),
  ];
  const nested = new Identities(id);
  return {
    id,
    label: shortName(entry.target),
    description: placeText(entry),
    tooltip: `${placeText(entry)} compiles ${shortName(entry.target)} (${about.join(", ")})`,
    icon: "entry",
    place: { root, at: entry },
    children: functions.toSorted(byPlace).map((one) => functionNode(root, one, nested)),
  };
}

function functionNode(root: string, compiled: CompiledFunction, identities: Identities): Node {
  const sureness = doubt(compiled.confidence);
  return {
    id: identities.next(compiled.id),
    label: shortName(compiled.id),
    description: [placeText(compiled), ...sureness].join(", "),
    tooltip: `${shortName(compiled.id)} is compiled${sureness.map((word) => ` (${word})`).join("")}`,
    icon: "function",
    place: { root, at: compiled },
    children: [],
  };
}

function sites(
  root: string,
  title: string,
  icon: "question" | "skipped",
  shown: readonly Site[],
  identities: Identities,
): Node[] {
  const nodes = shown.map((site): Node => ({
    id: identities.next(`${title} ${placeText(site)} ${site.expression}`),
    label: site.expression,
    description: placeText(site),
    tooltip: `${site.expression}: ${site.why}`,
    icon,
    place: { root, at: site },
    children: [],
  }));
  return nodes.length === 0 ? [] : [heading(identities.next(title), title, icon, nodes)];
}

function heading(id: string, label: string, icon: Node["icon"], children: readonly Node[]): Node {
  return {
    id,
    label,
    description: String(children.length),
    tooltip: label,
    icon,
    place: undefined,
    children,
  };
}

/** Names of nodes, unique also where two are alike. */
class Identities {
  private readonly counts = new Map<string, number>();

  constructor(private readonly prefix: string) {}

  next(name: string): string {
    const count = this.counts.get(name) ?? 0;
    this.counts.set(name, count + 1);
    return `${this.prefix} ${name} ${String(count)}`;
  }
}

function doubt(confidence: string): string[] {
  return confidence === "certain" ? [] : [confidence];
}

/** The name behind the path of a target: the view shows the path beside it. */
function shortName(id: string): string {
  return id.split("::").at(-1) ?? id;
}

function byPlace(one: Place, other: Place): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : one.line - other.line;
}
