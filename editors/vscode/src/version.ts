// Versions of dynamo-lint, as `dynamo-lint --version` prints them.

export type Version = readonly [major: number, minor: number, patch: number];

/** The first version that this extension works with. */
export const OLDEST: Version = [0, 1, 0];

/** The version in what `--version` prints; undefined if another program answered. */
export function parseVersion(output: string): Version | undefined {
  const match = /^dynamo-lint (\d+)\.(\d+)(?:\.(\d+))?/m.exec(output);
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
}

export function isOlder(version: Version, other: Version): boolean {
  const differing = ([0, 1, 2] as const).find((part) => version[part] !== other[part]);
  return differing !== undefined && version[differing] < other[differing];
}

export function text(version: Version): string {
  return version.join(".");
}
