import { recordAct } from "../../../access/audit.ts";
import { GatewayError } from "../../../canon/error.ts";
import { json } from "../../openapi/operation.ts";
import { actorOf } from "../actor.ts";
import { adminRoute } from "../define-route.ts";
import { PAGE_FIELDS, pageOf } from "../query-fields.ts";
import { dataAnswer, pageAnswer } from "../schemas/answers.ts";
import { OpenSession } from "../schemas/session.ts";

export const listSessions = adminRoute({
  method: "GET",
  path: "/api/sessions",
  id: "listSessions",
  summary: "List the open sessions of operators, newest first.",
  roles: ["admin", "viewer"],
  query: PAGE_FIELDS,
  answers: [json(pageAnswer("SessionList", OpenSession), "The sessions.")],
  handle: async ({ query }, _context, { access }) => pageOf(await access.sessions(), query, ({ id }) => id),
});

export const endSession = adminRoute({
  method: "DELETE",
  path: "/api/sessions/{id}",
  id: "endSession",
  summary: "End a session by its id. It cannot be used any more, at any instance.",
  roles: ["admin"],
  answers: [json(dataAnswer("EndedSession", OpenSession), "The session that has ended.")],
  handle: async ({ parameters, operator, connection }, { storage, gateway }, { access }) => {
    const id = parameters["id"] ?? "";
    const ended = await access.end(id);
    if (ended === undefined) {
      const message = `No open session has the id ${JSON.stringify(id.slice(0, 100))}.`;
      throw new GatewayError("not_found", message, { code: "session_not_found" });
    }
    const { operator: of, issuer, subject } = ended;
    const act = { act: "session.end", target: id, before: { operator: of, issuer, subject } };
    await recordAct(storage, { ...actorOf(operator, connection), ...act }, gateway);
    return { data: ended };
  },
});
