import { listActs } from "../../access/audit.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { json } from "../openapi/operation.ts";
import { adminRoute } from "./define-route.ts";
import { limitOf, momentField, PAGE_FIELDS, textField } from "./query-fields.ts";
import { pageAnswer } from "./schemas/answers.ts";
import { Act } from "./schemas/audit.ts";

export const listAudit = adminRoute({
  method: "GET",
  path: "/api/audit",
  id: "listAudit",
  summary: "List who changed what, newest first.",
  roles: ["admin", "viewer"],
  query: {
    ...PAGE_FIELDS,
    who: textField("Only what this one did."),
    act: textField("Only acts of this name."),
    target: textField("Only what was done to the thing with this id."),
    project: textField("Only what concerns this project."),
    from: momentField("Not before."),
    to: momentField("Before."),
  },
  answers: [json(pageAnswer("ActList", Act), "Acts; nothing removes or changes one.")],
  handle: async ({ query }, { storage }) => {
    const { who, act, target, project, from, to, after } = query;
    const filter = withoutAbsent({ who, act, target, project, fromMs: from, toMs: to });
    const { acts, next } = await listActs(storage, filter, { limit: limitOf(query), after });
    return { data: acts, next: next ?? null };
  },
});
