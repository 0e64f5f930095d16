import type { GuardSettings } from "../canon/guard/guard-settings.ts";
import type { Config } from "./config.ts";
import type { MapNode, Report } from "./document-node.ts";
import { positionAt } from "./position-at.ts";

/** The field that a kind of guard needs, and that no other kind has. */
const FIELDS: Readonly<Record<"words" | "model" | "url" | "secret", GuardSettings["use"]>> = {
  words: "words",
  model: "moderation",
  url: "webhook",
  secret: "webhook",
};
const OPTIONAL: ReadonlySet<string> = new Set(["secret"]);

/** Each guard has the fields of its kind, and a name of its own, under which its verdicts are reported. */
export function checkGuards({ guards }: Pick<Config, "guards">, root: MapNode, report: Report): void {
  const seen = new Set<string>();
  for (const [index, guard] of guards.entries()) {
    const fail = (field: string, message: string) => report(positionAt(root, ["guards", index, field]), message);
    const path = `guards[${index}]`;
    if (seen.has(guard.name))
      fail("name", `guards contains two guards with the name "${guard.name}"; names must be unique`);
    seen.add(guard.name);
    for (const [field, use] of Object.entries(FIELDS) as [keyof typeof FIELDS, GuardSettings["use"]][]) {
      const isSet = guard[field] !== undefined;
      if (isSet && guard.use !== use) fail(field, `${path}.${field} is only for guards with use: ${use}`);
      if (!isSet && guard.use === use && !OPTIONAL.has(field))
        fail("use", `${path} requires ${field}, because it has use: ${use}`);
    }
    const long = guard.words?.find((word) => word.length > guard.window);
    if (long !== undefined)
      fail(
        "words",
        `${path}.words contains a phrase of ${long.length} characters; the longest is ${path}.window, which is ${guard.window}`,
      );
  }
}
