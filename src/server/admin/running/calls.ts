import { recordAct } from "../../../access/audit.ts";
import { Type } from "../../../base/type.ts";
import { GatewayError } from "../../../canon/error.ts";
import { json } from "../../openapi/operation.ts";
import { actorOf } from "../actor.ts";
import { adminRoute } from "../define-route.ts";
import { projectOf } from "../project-scope.ts";
import { oneOfField, textField, wholeField } from "../query-fields.ts";
import { dataAnswer } from "../schemas/answers.ts";
import { CallItem } from "../schemas/call-in-flight.ts";
import { GATHERED_FIELDS, gatheredView } from "./gathered.ts";
import { askCalls, askToStop } from "./operator-questions.ts";
import { unansweredError } from "./unanswered-error.ts";

/** The most calls in one answer, and of one process. */
const MAX_CALLS = 500;

const CallsAnswer = Type.Object(
  {
    data: Type.Array(CallItem),
    total: Type.Integer({ description: "How many calls match, whether or not they are in `data`." }),
    ...GATHERED_FIELDS,
  },
  { title: "CallsAnswer" },
);

export const listCalls = adminRoute({
  method: "GET",
  path: "/api/calls",
  id: "listCalls",
  summary: "List the calls in flight of all processes, except videos, which are operations.",
  roles: ["admin", "viewer", "project"],
  query: {
    project: textField("Only calls of this project."),
    key: textField("Only calls of the key with this id."),
    model: textField("Only calls for this model."),
    provider: textField("Only calls that are trying this provider."),
    sort: oneOfField("`oldest` or `newest` first. Default: `oldest`.", ["oldest", "newest"]),
    limit: wholeField(`Maximum number of calls. Default: ${MAX_CALLS}.`, 1, MAX_CALLS),
  },
  answers: [json(CallsAnswer, "The calls.")],
  handle: async ({ query, operator }, _context, { questions }) => {
    const { key, model, provider, sort = "oldest", limit = MAX_CALLS } = query;
    const project = projectOf(operator, query.project);
    const gathered = await questions.look(askCalls({ filter: { project, key, model, provider }, sort, limit }));
    const calls = gathered.answers.flatMap(({ answer }) => answer.calls);
    calls.sort((one, other) => (sort === "oldest" ? other.age_ms - one.age_ms : one.age_ms - other.age_ms));
    return {
      data: calls.slice(0, limit),
      total: gathered.answers.reduce((sum, { answer }) => sum + answer.total, 0),
      ...gatheredView(gathered),
    };
  },
});

export const stopCall = adminRoute({
  method: "POST",
  path: "/api/calls/{receipt}/stop",
  id: "stopCall",
  summary:
    "Stop a call in flight, whichever process serves it. Its client gets an error, the provider's work is cancelled, and what it has produced is billed.",
  roles: ["admin", "project"],
  answers: [json(dataAnswer("StoppedCall", CallItem), "The call as it was.")],
  handle: async ({ parameters, operator, connection }, { storage, gateway }, { questions }) => {
    const receipt = parameters["receipt"] ?? "";
    const actor = actorOf(operator, connection);
    const project = projectOf(operator, undefined);
    const gathered = await questions.ask(askToStop({ receipt, project, who: actor.who }));
    const found = gathered.answers.find(({ answer }) => answer.call !== null)?.answer;
    if (found === undefined || found.call === null) {
      throw unansweredError(gathered, "the call may be running there") ?? notFound(receipt);
    }
    const { call, stopped } = found;
    if (!stopped) throw endsWithSession(call.session_id ?? "");
    const about = { act: "call.stop", target: receipt, project: call.project, before: { key: call.key } };
    await recordAct(storage, { ...actor, ...about }, gateway);
    return { data: call };
  },
});

function notFound(id: string): GatewayError {
  const message = `No call ${JSON.stringify(id.slice(0, 100))} is in flight; GET /api/calls lists the ids. A call that has ended has a receipt.`;
  return new GatewayError("not_found", message, { code: "call_not_found" });
}

const endsWithSession = (session: string): GatewayError =>
  new GatewayError(
    "invalid_request",
    `This call is a turn of the live connection ${session} and ends with it. End the connection: POST /api/live_sessions/${session}/end.`,
    { code: "turn_of_session" },
  );
