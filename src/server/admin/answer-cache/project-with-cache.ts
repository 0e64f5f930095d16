import { configuredKeys } from "../../../access/key-view.ts";
import type { Operator } from "../../../access/people/operator.ts";
import { findProject } from "../../../access/projects.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { ServerContext } from "../../routed-request.ts";
import { projectOf } from "../project-scope.ts";

/** The project of that id, which may exist only in the configuration file. For operators of another one it does not exist (S09). */
export async function projectWithCache(
  operator: Operator,
  id: string,
  { storage, gateway }: Pick<ServerContext, "storage" | "gateway">,
): Promise<string> {
  if ((projectOf(operator, undefined) ?? id) !== id) {
    const message = `There is no project ${JSON.stringify(id.slice(0, 100))}.`;
    throw new GatewayError("not_found", message, { code: "project_not_found" });
  }
  const isConfigured = configuredKeys(gateway.keys.configured).some(({ project }) => project === id);
  if (!isConfigured) await findProject(storage, id);
  return id;
}
