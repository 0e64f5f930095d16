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

/** Throws as for a key that does not exist, where it is another project's (S09). */
export async function requireProject(operator: Operator, id: string, storage: Storage): Promise<void> {
  const own = projectOf(operator, undefined) ?? "";
  // By its id alone: the names of other projects' keys must not decide which one is meant.
  if ((await listKeys(storage, { project: own })).some((key) => key.id === id)) return;
  const message = `There is no key with the id ${JSON.stringify(id.slice(0, 100))} in the project ${own}.`;
  throw new GatewayError("not_found", message, { code: "key_not_found" });
}
