import { GatewayError } from "../../canon/error.ts";
import type { PreviousFault, StoredAnswers } from "../stored-answers.ts";

const MAX_SHOWN = 80;
const shown = (id: string): string => `'${id.slice(0, MAX_SHOWN)}'`;

const WHAT_IS_KEPT =
  " `previous_response_id` must be the id of a response that this project has stored and that has not expired.";

/** The vendor's own sentence; what it builds on may be at fault instead of itself. */
export function refusePrevious(id: string, fault: PreviousFault, at: string): GatewayError {
  const path = "previous_response_id";
  const on = at === id ? "" : ` It builds on ${shown(at)}, which`;
  switch (fault) {
    case "missing":
    case "elsewhere": {
      const why = on === "" ? WHAT_IS_KEPT : `${on} has expired or was deleted.`;
      const message = `Previous response with id ${shown(id)} not found.${why}`;
      const code = "previous_response_not_found";
      return new GatewayError(fault === "missing" ? "invalid_request" : "not_found", message, { path, code });
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

export function checkShow(query: URLSearchParams): void {
  if (query.get("stream") !== "true") return;
  const message = "A stored response is not streamed: leave `stream` out, and poll until its `status` is completed.";
  throw new GatewayError("unsupported_parameter", message, { path: "stream" });
}

const BACKGROUND_FAULTS: Readonly<Record<Parameters<StoredAnswers["refuseBackground"]>[0], string>> = {
  not_kept: "needs a response that is stored: `store` must not be false, here and in the gateway's configuration",
  streamed: "cannot be streamed: leave `stream` out, and poll GET /responses/{id}",
};

export const refuseBackground: StoredAnswers["refuseBackground"] = (why) =>
  new GatewayError("unsupported_parameter", `A response in the background ${BACKGROUND_FAULTS[why]}.`, {
    path: "background",
  });

export const refuseCancel = (id: string): GatewayError =>
  new GatewayError(
    "invalid_request",
    `Cannot cancel the response ${shown(id)}: only one that was created with background: true and has not ended can be cancelled.`,
    { path: "id" },
  );
