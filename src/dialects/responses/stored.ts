import { arrayAt, type JsonObject, numberAt, objectAt, parseObject, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { StoredAnswers } from "../answer/stored-answers.ts";
import { FAILURE_CODES } from "./answer/error-words.ts";
import { encodeShell } from "./answer/response-shell.ts";
import type { StreamPosition } from "./answer/stream-position.ts";
import { expand, itemsOf, readState, turnItems } from "./request/expand-items.ts";
import { openPage } from "./request/list-input.ts";
import {
  notFound,
  readShow,
  refuseBackground,
  refuseCancel,
  refuseConversation,
  refusePrevious,
  refuseReferences,
  refuseStream,
} from "./stored-words.ts";

/** Requests for stored responses: `store`, `previous_response_id`, `conversation`, `item_reference` and `background`. */
export const storedResponses: StoredAnswers = {
  read: readState,
  expand,
  items: {
    idsOf: (answer) => arrayAt(answer, "output").flatMap((item) => stringAt(item, "id") ?? []),
    read: itemsOf,
    refuseReferences,
    openPage,
  },
  conversations: { itemsOf: turnItems, refuse: refuseConversation },
  isId: (id) => id.startsWith(ID_PREFIX),
  makeId: (random) => `${ID_PREFIX}${random.replace(/[^a-zA-Z0-9]/g, "x")}`,
  refusePrevious,
  notFound,
  refuseBackground,
  refuseCancel,
  readShow,
  refuseStream,
  numberOf: (event) => numberAt(event, "sequence_number"),
  hasEnded: (last) => PROPER_ENDS.has(stringAt(last, "type")) || stringAt(last, "type") === "response.failed",
  failureIn,
  positionOf: (pending, sequence): StreamPosition => ({ sequence, response: parseObject(pending) ?? {} }),
  encodeDeleted: (id) => JSON.stringify({ id, object: "response", deleted: true }),
  encodePending: (body, { begun, ...shell }) =>
    JSON.stringify(encodeShell(body, { ...shell, status: begun ? "in_progress" : "queued", store: true })),
  encodeFailed: (pending, error) => {
    const code = error.code ?? FAILURE_CODES[error.kind];
    return ended(pending, { status: "failed", error: { code, message: error.messageWithPath } });
  },
  encodeCancelled: (pending) => ended(pending, { status: "cancelled" }),
};

const ID_PREFIX = "resp_";

const PROPER_ENDS: ReadonlySet<string | undefined> = new Set(["response.completed", "response.incomplete"]);

function failureIn(last: JsonObject | undefined): GatewayError | undefined {
  if (PROPER_ENDS.has(stringAt(last, "type"))) return undefined;
  const error = objectAt(objectAt(last, "response"), "error");
  const code = stringAt(error, "code");
  const message = stringAt(error, "message") ?? "The response ended before it was complete.";
  return new GatewayError("upstream_failed", message, code === undefined ? {} : { code });
}

const ended = (pending: string, how: JsonObject): string => JSON.stringify({ ...parseObject(pending), ...how });
