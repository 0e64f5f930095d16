import { GatewayError } from "../../canon/error.ts";
import type { PreviousFault, StoredAnswers } from "../answer/stored-answers.ts";

const MAX_SHOWN = 80;
const shown = (id: string): string => `'${id.slice(0, MAX_SHOWN)}'`;

const WHAT_IS_KEPT =
  " `previous_response_id` must be the id of a stored response that this key may see and that has not expired.";

/** The vendor's own sentence; what it builds on may be at fault instead of itself. */
export function refusePrevious(id: string, fault: PreviousFault, at: string): GatewayError {
  const path = "previous_response_id";
  const on = at === id ? "" : ` It builds on ${shown(at)}, which`;
  switch (fault) {
    case "missing": {
      const why = on === "" ? WHAT_IS_KEPT : `${on} has expired or was deleted.`;
      const message = `Previous response with id ${shown(id)} not found.${why}`;
      const code = "previous_response_not_found";
      return new GatewayError("invalid_request", message, { path, code });
    }
    case "too_large": {
      const message = `The items of ${shown(id)} and of what it builds on are more than a request may have. Begin a new conversation, or send the items that matter in input.`;
      return new GatewayError("invalid_request", message, { path, code: "context_length_exceeded" });
    }
    case "pending": {
      const message = `The response ${shown(at)} is still being made: wait until its status is completed.`;
      return new GatewayError("invalid_request", message, { path });
    }
    case "failed":
    case "cancelled": {
      const message = `The response ${shown(at)} was not completed (its status is ${fault}): continue from another one.`;
      return new GatewayError("invalid_request", message, { path });
    }
  }
}

export const refuseReferences = (): GatewayError =>
  new GatewayError(
    "invalid_request",
    "The items that `input` refers to are together more than a request may have. Refer to each of them once, or to fewer.",
    { path: "input", code: "context_length_exceeded" },
  );

export const notFound = (id: string): GatewayError =>
  new GatewayError("not_found", `Response with id ${shown(id)} not found.`, { path: "id", code: "response_not_found" });

/** Everything, where no number is named. */
export function readShow(query: URLSearchParams): { after: number } | undefined {
  if (query.get("stream") !== "true") return undefined;
  const after = query.get("starting_after");
  if (after === null) return { after: -1 };
  if (/^\d{1,9}$/.test(after)) return { after: Number(after) };
  const message = `starting_after is ${shown(after)}; it must be the sequence_number of an event.`;
  throw new GatewayError("invalid_request", message, { path: "starting_after" });
}

export const refuseStream = (id: string): GatewayError =>
  new GatewayError(
    "unsupported_parameter",
    `The events of ${shown(id)} are not kept: only a response that was created with background and stream has any, for a while, in the gateway that made it. Leave \`stream\` out to see the response.`,
    { path: "stream" },
  );

export const refuseBackground: StoredAnswers["refuseBackground"] = () =>
  new GatewayError(
    "unsupported_parameter",
    "A response in the background needs a response that is stored: `store` must not be false, here and in the gateway's configuration.",
    { path: "background" },
  );

export const refuseCancel = (id: string): GatewayError =>
  new GatewayError(
    "invalid_request",
    `Cannot cancel the response ${shown(id)}: only one that was created with background: true and has not ended can be cancelled.`,
    { path: "id" },
  );
