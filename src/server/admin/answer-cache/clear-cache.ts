import { recordAct } from "../../../access/audit.ts";
import { Type } from "../../../base/type.ts";
import { json } from "../../openapi/operation.ts";
import { actorOf } from "../actor.ts";
import { adminRoute } from "../define-route.ts";
import { dataAnswer } from "../schemas/answers.ts";
import { projectWithCache } from "./project-with-cache.ts";

const CacheCleared = Type.Object(
  { project: Type.String(), deleted: Type.Integer({ minimum: 0 }) },
  { title: "CacheCleared" },
);

export const clearCache = adminRoute({
  method: "DELETE",
  path: "/api/projects/{id}/cache",
  id: "clearCache",
  summary: "Delete all cached responses of a project.",
  roles: ["admin", "project"],
  answers: [json(dataAnswer("CacheClearedAnswer", CacheCleared), "How many were deleted.")],
  handle: async ({ parameters, operator, connection }, { storage, gateway }) => {
    const project = await projectWithCache(operator, parameters["id"] ?? "", { storage, gateway });
    const deleted = await gateway.answerCache.clear(project);
    const act = { act: "cache.clear", target: project, project, after: { deleted } };
    await recordAct(storage, { ...actorOf(operator, connection), ...act }, gateway);
    return { data: { project, deleted } };
  },
});
