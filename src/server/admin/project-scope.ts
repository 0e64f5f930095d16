import { configuredKeys, type KeyView, keyView } from "../../access/key-view.ts";
import { listKeys } from "../../access/keys.ts";
import type { Operator } from "../../access/people/operator.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import type { ServerContext } from "../routed-request.ts";

/** The project that a request is about: an operator of one project can only name that one (S09). */
export function projectOf({ role, project: own }: Operator, asked: string | undefined): string | undefined {
  if (role !== "project") return asked;
  if (own !== undefined && (asked === undefined || asked === own)) return own;
  throw new GatewayError("forbidden", "Project operators can only access their own project.", {
    path: "project",
    code: "project_not_allowed",
  });
}

/** All keys that an operator may see: stored ones, newest first, then configured ones. */
export async function keysFor(
  operator: Operator,
  asked: string | undefined,
  { storage, gateway }: Pick<ServerContext, "storage" | "gateway">,
): Promise<KeyView[]> {
  const project = projectOf(operator, asked);
  const stored = await listKeys(storage, withoutAbsent({ project }));
  const configured = configuredKeys(gateway.keys.configured).filter((key) => key.project === (project ?? key.project));
  return [...stored.toReversed().map(keyView), ...configured];
}

/**
 * The key of that id, or the only valid key of that name. For an operator of one project, another project's key does
 * not exist (S09).
 */
export async function keyFor(
  operator: Operator,
  id: string,
  context: Pick<ServerContext, "storage" | "gateway">,
): Promise<KeyView> {
  const keys = await keysFor(operator, undefined, context);
  const named = keys.filter(({ name, revoked_at }) => name === id && revoked_at === null);
  const stored = named.filter(({ from }) => from === "storage");
  const [only, another] = stored.length > 0 ? stored : named;
  const found = keys.find((key) => key.id === id) ?? (another === undefined ? only : undefined);
  if (found !== undefined) return found;
  const message = `No key has the id ${JSON.stringify(id.slice(0, 100))}.`;
  throw new GatewayError("not_found", message, { code: "key_not_found" });
}

/** A key that can be changed here. */
export async function storedKeyFor(
  operator: Operator,
  id: string,
  context: Pick<ServerContext, "storage" | "gateway">,
): Promise<KeyView> {
  const key = await keyFor(operator, id, context);
  if (key.from === "storage") return key;
  const message = `The key "${key.name}" is in the configuration file: change it there, and running gateways apply it.`;
  throw new GatewayError("invalid_request", message, { code: "key_from_file" });
}
