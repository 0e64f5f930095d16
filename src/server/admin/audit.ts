import Type from "typebox";
import { listActs } from "../../access/audit.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { nullable } from "../../dialects/schema-builders.ts";
import { json } from "../openapi/operation.ts";
import { Moment, pageAnswer } from "./answers.ts";
import { adminRoute } from "./define-route.ts";
import { limitOf, momentField, PAGE_FIELDS, textField } from "./query-fields.ts";

const Act = Type.Object(
  {
    id: Type.String(),
    at: Moment,
    who: Type.String({ description: "`operator:<name>`, `key:<id>`, `command line` or `gateway`." }),
    address: nullable(Type.String()),
    act: Type.String({ description: "Such as `key.create`." }),
    target: Type.String({ description: "The id of what it was done to." }),
    project: nullable(Type.String()),
    before: Type.Unknown({ description: "What changed, as it was; null where there is nothing." }),
    after: Type.Unknown({ description: "The same as it is since; secrets are `[secret]`." }),
  },
  { title: "Act" },
);

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
