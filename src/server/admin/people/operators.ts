import { listOperators } from "../../../access/operators.ts";
import { json } from "../../openapi/operation.ts";
import { adminRoute } from "../define-route.ts";
import { PAGE_FIELDS, pageOf, textField } from "../query-fields.ts";
import { pageAnswer } from "../schemas/answers.ts";
import { OperatorItem } from "../schemas/operator.ts";

export const listOperatorsRoute = adminRoute({
  method: "GET",
  path: "/api/operators",
  id: "listOperators",
  summary: "List the operators that have a secret of their own, newest first, also revoked ones.",
  roles: ["admin", "viewer"],
  query: { ...PAGE_FIELDS, project: textField("Only operators of this project.") },
  answers: [json(pageAnswer("OperatorList", OperatorItem), "Operators, without their secrets.")],
  handle: async ({ query }, { storage }) => {
    const { project } = query;
    const all = (await listOperators(storage)).toReversed();
    const found = project === undefined ? all : all.filter((one) => one.project === project);
    return pageOf(found, query, ({ id }) => id);
  },
});
