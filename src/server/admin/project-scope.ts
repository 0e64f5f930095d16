import type { KeySummary } from "../../access/key-view.ts";
import { listKeys } from "../../access/keys.ts";
import type { Operator } from "../../access/operator-access.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Storage } from "../../storage/storage.ts";

/** The project that a request is about: for an operator of one project always that one, and no other may be named (S09). */
export function projectOf({ role, project: own }: Operator, asked: string | undefined): string | undefined {
  if (role !== "project") return asked;
  if (own !== undefined && (asked === undefined || asked === own)) return own;
  throw new GatewayError("forbidden", "An operator of a project sees that project alone.", {
    path: "project",
    code: "project_not_allowed",
  });
}

/** The key of that id, or the one valid key of that name. Another project's does not exist for an operator of one (S09). */
export async function keyFor(operator: Operator, id: string, storage: Storage): Promise<KeySummary> {
  const project = projectOf(operator, undefined);
  const keys = await listKeys(storage, project === undefined ? {} : { project });
  const named = keys.filter(({ name, revokedAtMs }) => name === id && revokedAtMs === undefined);
  const found = keys.find((key) => key.id === id) ?? (named.length === 1 ? named[0] : undefined);
  if (found !== undefined) return found;
  const message = `There is no key with the id ${JSON.stringify(id.slice(0, 100))}.`;
  throw new GatewayError("not_found", message, { code: "key_not_found" });
}
