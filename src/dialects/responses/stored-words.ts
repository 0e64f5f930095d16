import { GatewayError } from "../../canon/error.ts";
import type { PreviousFault, StoredAnswers } from "../answer/stored-answers.ts";

const MAX_SHOWN = 80;
const shown = (id: string): string => `'${id.slice(0, MAX_SHOWN)}'`;

const WHAT_IS_KEPT =
  " `previous_response_id` must be the id of a stored response that this key can access and that has not expired.";

/** The vendor's own sentence. A response that the named one continues may be the cause instead. */
export function refusePrevious(id: string, fault: PreviousFault, at: string): GatewayError {
  const path = "previous_response_id";
  const on = at === id ? "" : ` It continues ${shown(at)}, which`;
  switch (fault) {
    case "missing": {
      const why = on === "" ? WHAT_IS_KEPT : `${on} has expired or was deleted.`;
      const message = `Previous response with id ${shown(id)} not found.${why}`;
      const code = "previous_response_not_found";
      return new GatewayError("invalid_request", message, { path, code });
    }
    case "too_large": {
      const message = `The conversation up to ${shown(id)} exceeds the size limit of a request. Start a new conversation, or send only the items you need in input.`;
      return new GatewayError("invalid_request", message, { path, code: "context_length_exceeded" });
    }
    case "pending": {
      const message = `Response ${shown(at)} is still in progress. Wait until its status is completed.`;
      return new GatewayError("invalid_request", message, { path });
    }
    case "failed":
    case "cancelled": {
      const message = `Response ${shown(at)} was not completed (its status is ${fault}). Continue from another response.`;
      return new GatewayError("invalid_request", message, { path });
    }
  }
}

export function refuseConversation(
  { id, path }: { id: string; path: string },
  fault: "missing" | "too_large" | "empty",
): GatewayError {
  if (fault === "empty") {
    const message = `The conversation ${shown(id)} has no items. Send some in \`input\`.`;
    return new GatewayError("invalid_request", message, { path: "input" });
  }
  if (fault === "missing") {
    const message = `Conversation with id ${shown(id)} not found. \`${path}\` must be the id of a conversation that was created at this gateway, that this key can access and that has not expired.`;
    return new GatewayError("invalid_request", message, { path, code: "conversation_not_found" });
  }
  const message = `The conversation ${shown(id)} exceeds the size limit of a request. Delete items of it, or start a new conversation.`;
  return new GatewayError("invalid_request", message, { path, code: "context_length_exceeded" });
}

export const refuseReferences = (): GatewayError =>
  new GatewayError(
    "invalid_request",
    "The items that `input` references exceed the size limit of a request. Reference each item only once, or reference fewer items.",
    { path: "input", code: "context_length_exceeded" },
  );

export const notFound = (id: string): GatewayError =>
  new GatewayError("not_found", `Response with id ${shown(id)} not found.`, { path: "id", code: "response_not_found" });

/** All events if there is no number. */
export function readShow(query: URLSearchParams): { after: number } | undefined {
  if (query.get("stream") !== "true") return undefined;
  const after = query.get("starting_after");
  if (after === null) return { after: -1 };
  if (/^\d{1,9}$/.test(after)) return { after: Number(after) };
  const message = `\`starting_after\` must be the sequence_number of an event; it is ${shown(after)}.`;
  throw new GatewayError("invalid_request", message, { path: "starting_after" });
}

export const refuseStream = (id: string): GatewayError =>
  new GatewayError(
    "unsupported_parameter",
    `The events of ${shown(id)} are not available. Only responses created with both background and stream have events, for a limited time, in the gateway process that created them. Omit \`stream\` to get the response.`,
    { path: "stream" },
  );

export const refuseBackground: StoredAnswers["refuseBackground"] = () =>
  new GatewayError(
    "unsupported_parameter",
    "Background responses must be stored: `store` must not be false in the request or in the gateway's configuration.",
    { path: "background" },
  );

export const refuseCancel = (id: string): GatewayError =>
  new GatewayError(
    "invalid_request",
    `Cannot cancel response ${shown(id)}: only a response that was created with background: true and is still in progress can be cancelled.`,
    { path: "id" },
  );
