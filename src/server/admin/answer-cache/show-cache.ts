import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { json } from "../../openapi/operation.ts";
import { adminRoute } from "../define-route.ts";
import { dataAnswer, Timestamp } from "../schemas/answers.ts";
import { projectWithCache } from "./project-with-cache.ts";

const CacheState = Type.Object(
  {
    project: Type.String(),
    entries: Type.Integer({ minimum: 0, description: "Includes expired responses that are not deleted yet." }),
    bytes: Type.Integer({ minimum: 0 }),
    oldest_at: nullable(Timestamp),
  },
  { title: "CacheState" },
);
export const showCache = adminRoute({
  method: "GET",
  path: "/api/projects/{id}/cache",
  id: "showCache",
  summary: "Show the number, size and age of a project's cached responses.",
  roles: ["admin", "viewer", "project"],
  answers: [json(dataAnswer("CacheAnswer", CacheState), "What the project's keys have stored.")],
  handle: async ({ parameters, operator }, { storage, gateway }) => {
    const project = await projectWithCache(operator, parameters["id"] ?? "", { storage, gateway });
    const { entries, bytes, oldestMs } = await gateway.answerCache.sums(project);
    const oldest = oldestMs === undefined ? null : new Date(oldestMs).toISOString();
    return { data: { project, entries, bytes, oldest_at: oldest } };
  },
});
