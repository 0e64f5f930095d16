import { type JsonObject, objectAt, parseObject, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { ObjectEdit } from "../../wire/json-text.ts";
import type { StoredAnswers } from "../answer/stored-answers.ts";
import { ID_PREFIX } from "./answer/encode-stream.ts";
import { errorWords, type StreamPosition } from "./answer/errors.ts";
import { continued, encodeShell, timeOf } from "./answer/interaction-shell.ts";
import { expand, readState } from "./request/expand-steps.ts";
import { notFound, readShow, refuseBackground, refuseCancel, refusePrevious, refuseStream } from "./stored-words.ts";

/** Requests for stored interactions: `store`, `previous_interaction_id` and `background`. */
export const storedInteractions: StoredAnswers = {
  read: readState,
  expand,
  isId: (id) => id.startsWith(ID_PREFIX),
  makeId: (random) => `${ID_PREFIX}${random.replace(/[^a-zA-Z0-9]/g, "x")}`,
  refusePrevious,
  notFound,
  refuseBackground,
  refuseCancel,
  readShow,
  show: (answer, input, query) =>
    query.get("include_input") === "true" ? new ObjectEdit(answer).set("input", input).toString() : answer,
  refuseStream,
  numberOf: (event) => {
    const number = Number(stringAt(event, "event_id") ?? Number.NaN);
    return Number.isInteger(number) ? number : undefined;
  },
  hasEnded: (last) => ENDS.has(stringAt(last, "event_type")),
  failureIn,
  positionOf: (_pending, sequence): StreamPosition => ({ sequence }),
  encodeDeleted: () => "{}",
  encodePending: (body, { id, model, createdAtSeconds, begun }) => {
    const created = timeOf(createdAtSeconds * 1000);
    const shell = encodeShell({ id, model, status: begun ? "in_progress" : "queued" });
    return JSON.stringify({ ...shell, created, updated: created, ...continued(body), steps: [] });
  },
  encodeFailed: (pending, error) => ended(pending, { status: "failed", errors: [errorWords(error)] }),
  encodeCancelled: (pending) => ended(pending, { status: "cancelled" }),
};

const COMPLETED = "interaction.completed";
const ENDS: ReadonlySet<string | undefined> = new Set([COMPLETED, "error"]);

function failureIn(last: JsonObject | undefined): GatewayError | undefined {
  if (stringAt(last, "event_type") === COMPLETED) return undefined;
  const error = objectAt(last, "error");
  const code = stringAt(error, "code");
  const message = stringAt(error, "message") ?? "The interaction ended before it was complete.";
  return new GatewayError("upstream_failed", message, code === undefined ? {} : { code });
}

const ended = (pending: string, how: JsonObject): string => JSON.stringify({ ...parseObject(pending), ...how });
