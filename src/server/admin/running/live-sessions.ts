import { recordAct } from "../../../access/audit.ts";
import { Type } from "../../../base/type.ts";
import { GatewayError } from "../../../canon/error.ts";
import { json } from "../../openapi/operation.ts";
import { actorOf } from "../actor.ts";
import { adminRoute } from "../define-route.ts";
import { projectOf } from "../project-scope.ts";
import { textField } from "../query-fields.ts";
import { SessionItem } from "../schemas/live-session.ts";
import { GATHERED_FIELDS, gatheredView } from "./gathered.ts";
import { askSessions, askToEnd } from "./operator-questions.ts";
import { MAX_SESSIONS } from "./session-item.ts";
import { unansweredError } from "./unanswered-error.ts";

const SessionsAnswer = Type.Object(
  {
    data: Type.Array(SessionItem),
    total: Type.Integer({ description: "How many connections match, whether or not they are in `data`." }),
    ...GATHERED_FIELDS,
  },
  { title: "SessionsAnswer" },
);

export const listLiveSessions = adminRoute({
  method: "GET",
  path: "/api/live_sessions",
  id: "listLiveSessions",
  summary: "List the open live connections of all processes, the oldest first, at most 1,000.",
  roles: ["admin", "viewer", "project"],
  query: {
    key: textField("Only those of the key with this id."),
    project: textField("Only those of this project."),
  },
  answers: [json(SessionsAnswer, "The connections.")],
  handle: async ({ query, operator }, _context, { questions }) => {
    const project = projectOf(operator, query.project);
    const gathered = await questions.look(askSessions({ project, key: query.key }));
    const sessions = gathered.answers.flatMap(({ answer }) => answer.sessions);
    sessions.sort((one, other) => Date.parse(one.opened_at) - Date.parse(other.opened_at));
    return {
      data: sessions.slice(0, MAX_SESSIONS),
      total: gathered.answers.reduce((sum, { answer }) => sum + answer.total, 0),
      ...gatheredView(gathered),
    };
  },
});

export const endLiveSession = adminRoute({
  method: "POST",
  path: "/api/live_sessions/{id}/end",
  id: "endLiveSession",
  summary:
    "End a live connection, whichever process serves it. Its client gets an error, and turns in progress end and are billed.",
  roles: ["admin", "project"],
  answers: [json(Type.Object({ data: SessionItem }, { title: "SessionAnswer" }), "The connection as it was.")],
  handle: async ({ parameters, operator, connection }, { storage, gateway }, { questions }) => {
    const id = parameters["id"] ?? "";
    const gathered = await questions.ask(askToEnd({ id, project: projectOf(operator, undefined) }));
    const session = gathered.answers.find(({ answer }) => answer.session !== null)?.answer.session;
    if (session === undefined || session === null) {
      const missing = unansweredError(gathered, "the connection may be open there");
      if (missing !== undefined) throw missing;
      const message = `There is no live connection ${JSON.stringify(id.slice(0, 100))}; GET /api/live_sessions lists the ids.`;
      throw new GatewayError("not_found", message, { code: "session_not_found" });
    }
    const about = { act: "live_session.end", target: id, project: session.project, before: { key: session.key } };
    await recordAct(storage, { ...actorOf(operator, connection), ...about }, gateway);
    return { data: session };
  },
});
