import { recordAct } from "../../access/audit.ts";
import { configuredKeys } from "../../access/configured-keys.ts";
import { findProject } from "../../access/projects.ts";
import { Type } from "../../base/type.ts";
import { nullable } from "../../dialects/reading/schema-builders.ts";
import { json } from "../openapi/operation.ts";
import type { ServerContext } from "../routed-request.ts";
import { actorOf } from "./actor.ts";
import { adminRoute } from "./define-route.ts";
import { projectOf } from "./project-scope.ts";
import { dataAnswer, Timestamp } from "./schemas/answers.ts";

const CacheState = Type.Object(
  {
    project: Type.String(),
    entries: Type.Integer({ minimum: 0, description: "Includes expired responses that are not deleted yet." }),
    bytes: Type.Integer({ minimum: 0 }),
    oldest_at: nullable(Timestamp),
  },
  { title: "CacheState" },
);
const CacheCleared = Type.Object(
  { project: Type.String(), deleted: Type.Integer({ minimum: 0 }) },
  { title: "CacheCleared" },
);

export const showCache = adminRoute({
  method: "GET",
  path: "/api/projects/{id}/cache",
  id: "showCache",
  summary: "Show the number, size and age of a project's cached responses.",
  roles: ["admin", "viewer", "project"],
  answers: [json(dataAnswer("CacheAnswer", CacheState), "What the project's keys have stored.")],
  handle: async ({ parameters, operator }, { storage, gateway }) => {
    const project = projectOf(operator, parameters["id"]) ?? "";
    await requireProject(project, { storage, gateway });
    const { entries, bytes, oldestMs } = await gateway.answerCache.sums(project);
    const oldest = oldestMs === undefined ? null : new Date(oldestMs).toISOString();
    return { data: { project, entries, bytes, oldest_at: oldest } };
  },
});

export const clearCache = adminRoute({
  method: "DELETE",
  path: "/api/projects/{id}/cache",
  id: "clearCache",
  summary: "Delete all cached responses of a project.",
  roles: ["admin", "project"],
  answers: [json(dataAnswer("CacheClearedAnswer", CacheCleared), "How many were deleted.")],
  handle: async ({ parameters, operator, connection }, { storage, gateway }) => {
    const project = projectOf(operator, parameters["id"]) ?? "";
    await requireProject(project, { storage, gateway });
    const deleted = await gateway.answerCache.clear(project);
    const act = { act: "cache.clear", target: project, project, after: { deleted } };
    await recordAct(storage, { ...actorOf(operator, connection), ...act }, gateway);
    return { data: { project, deleted } };
  },
});

/** A project may exist only in the configuration file. */
async function requireProject(id: string, { storage, gateway }: Pick<ServerContext, "storage" | "gateway">) {
  if (configuredKeys(gateway.keys.configured).some(({ project }) => project === id)) return;
  await findProject(storage, id);
}
