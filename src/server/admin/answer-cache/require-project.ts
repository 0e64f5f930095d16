import { configuredKeys } from "../../../access/configured-keys.ts";
import { findProject } from "../../../access/projects.ts";
import type { ServerContext } from "../../routed-request.ts";

/** A project may exist only in the configuration file. */
export async function requireProject(
  id: string,
  { storage, gateway }: Pick<ServerContext, "storage" | "gateway">,
): Promise<void> {
  if (configuredKeys(gateway.keys.configured).some(({ project }) => project === id)) return;
  await findProject(storage, id);
}
