import { arrayAt, type JsonObject, parseObject, stringAt } from "../../base/json.ts";
import type { StoredAnswers } from "../stored-answers.ts";
import { FAILURE_CODES } from "./error-words.ts";
import { expand, itemsOf, readState } from "./expand-items.ts";
import { encodeInput } from "./list-input.ts";
import { encodeShell } from "./response-shell.ts";
import {
  checkShow,
  notFound,
  refuseBackground,
  refuseCancel,
  refusePrevious,
  refuseReferences,
} from "./stored-words.ts";

/** `store`, `previous_response_id`, `item_reference` and `background`: what requests say of answers that the gateway keeps. */
export const storedResponses: StoredAnswers = {
  read: readState,
  expand,
  itemsOf,
  itemIds: (answer) => arrayAt(answer, "output").flatMap((item) => stringAt(item, "id") ?? []),
  makeId: (random) => `resp_${random.replace(/[^a-zA-Z0-9]/g, "x")}`,
  refusePrevious,
  refuseReferences,
  notFound,
  refuseBackground,
  refuseCancel,
  checkShow,
  encodeDeleted: (id) => JSON.stringify({ id, object: "response", deleted: true }),
  encodeInput,
  encodePending: (body, { begun, ...shell }) =>
    JSON.stringify(encodeShell(body, { ...shell, status: begun ? "in_progress" : "queued", store: true })),
  encodeFailed: (pending, error) => {
    const code = error.code ?? FAILURE_CODES[error.kind];
    return ended(pending, { status: "failed", error: { code, message: error.messageWithPath } });
  },
  encodeCancelled: (pending) => ended(pending, { status: "cancelled" }),
};

const ended = (pending: string, how: JsonObject): string => JSON.stringify({ ...parseObject(pending), ...how });
