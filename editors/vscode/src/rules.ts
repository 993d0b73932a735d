// The pages of the rules, as `dynamo-lint rule --all --output-format json` prints them.

export interface Rule {
  readonly code: string;
  readonly name: string;
  readonly summary: string;
  /** The page in Markdown. */
  readonly body: string;
}

export const RULE_ARGUMENTS = ["rule", "--all", "--output-format", "json"] as const;

/** The rules in what the command prints; raises an `Error` if that is something else. */
export function parseRules(output: string): Rule[] {
  const parsed: unknown = JSON.parse(output);
  if (!Array.isArray(parsed) || !parsed.every(isRule)) {
    throw new Error("`dynamo-lint rule` printed something else than rules");
  }
  return parsed;
}

/** The rules to choose from: those with findings first. */
export function ordered(rules: readonly Rule[], reported: ReadonlySet<string>): Rule[] {
  return [
    ...rules.filter(({ code }) => reported.has(code)),
    ...rules.filter(({ code }) => !reported.has(code)),
  ];
}

function isRule(value: unknown): value is Rule {
  return (
    typeof value === "object" &&
    value !== null &&
    ["code", "name", "summary", "body"].every((key) => typeof Reflect.get(value, key) === "string")
  );
}
