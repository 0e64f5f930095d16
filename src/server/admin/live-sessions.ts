import { recordAct } from "../../access/audit.ts";
import { Type } from "../../base/type.ts";
import { GatewayError } from "../../canon/error.ts";
import type { SessionView } from "../live/live-sessions.ts";
import { json } from "../openapi/operation.ts";
import { actorOf } from "./actor.ts";
import { adminRoute } from "./define-route.ts";
import { projectOf } from "./project-scope.ts";
import { textField } from "./query-fields.ts";
import { Timestamp } from "./schemas/answers.ts";

const MAX_SHOWN = 1_000;

const Session = Type.Object({
  id: Type.String({ description: "As in the receipts of its turns." }),
  key: Type.String({ description: "The id of its key." }),
  project: Type.String(),
  protocol: Type.String(),
  opened_at: Timestamp,
  turns: Type.Integer({ description: "Turns that were begun." }),
  running: Type.Integer({ description: "Those of them that run." }),
});
const SessionsAnswer = Type.Object({ data: Type.Array(Session) }, { title: "SessionsAnswer" });

export const listLiveSessions = adminRoute({
  method: "GET",
  path: "/api/live_sessions",
  id: "listLiveSessions",
  summary: "List the open live connections of the process that answers, the oldest first, at most 1,000.",
  roles: ["admin", "viewer", "project"],
  query: {
    key: textField("Only those of the key with this id."),
    project: textField("Only those of this project."),
  },
  answers: [json(SessionsAnswer, "The connections.")],
  handle: ({ query, operator }, { live }) => {
    const project = projectOf(operator, query.project);
    const found = live
      .list()
      .filter((view) => (query.key ?? view.key) === view.key && (project ?? view.project) === view.project);
    return { data: found.slice(0, MAX_SHOWN).map(sessionView) };
  },
});

export const endLiveSession = adminRoute({
  method: "POST",
  path: "/api/live_sessions/{id}/end",
  id: "endLiveSession",
  summary:
    "End a live connection of the process that answers. Its client is told, and turns in progress end and are billed.",
  roles: ["admin", "project"],
  answers: [json(Type.Object({ data: Session }, { title: "SessionAnswer" }), "The connection as it was.")],
  handle: async ({ parameters, operator, connection }, { live, storage, gateway }) => {
    const id = parameters["id"] ?? "";
    const session = live.find(id);
    const project = projectOf(operator, undefined);
    if (session === undefined || (project ?? session.view.project) !== session.view.project) {
      const message = `This process has no live connection ${JSON.stringify(id.slice(0, 100))}; GET /api/live_sessions lists the ids.`;
      throw new GatewayError("not_found", message, { code: "session_not_found" });
    }
    const { view } = session;
    session.endNow();
    const about = { act: "session.end", target: id, project: view.project, before: { key: view.key } };
    await recordAct(storage, { ...actorOf(operator, connection), ...about }, gateway);
    return { data: sessionView(view) };
  },
});

const sessionView = ({ openedAtMs, ...view }: SessionView) => ({
  ...view,
  opened_at: new Date(openedAtMs).toISOString(),
});
