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
  summary: "List administrative changes, newest first.",
  roles: ["admin", "viewer"],
  query: {
    ...PAGE_FIELDS,
    who: textField("Only acts of this actor."),
    act: textField("Only acts with this name."),
    target: textField("Only acts on the object with this id."),
    project: textField("Only acts that concern this project."),
    from: momentField("Start of the range, inclusive."),
    to: momentField("Before."),
  },
  answers: [json(pageAnswer("ActList", Act), "Acts. The audit log is append-only.")],
  handle: async ({ query }, { storage }) => {
    const { who, act, target, project, from, to, after } = query;
    const filter = withoutAbsent({ who, act, target, project, fromMs: from, toMs: to });
    const { acts, next } = await listActs(storage, filter, { limit: limitOf(query), after });
    return { data: acts, next: next ?? null };
  },
});
