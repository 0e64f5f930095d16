import { GatewayError } from "../../canon/error.ts";
import type { PreviousFault, StoredAnswers } from "../answer/stored-answers.ts";

const MAX_SHOWN = 80;
const shown = (id: string): string => `'${id.slice(0, MAX_SHOWN)}'`;

const WHAT_IS_KEPT =
  " `previous_interaction_id` must be the id of a stored interaction that this key can access and that has not expired.";

/** An interaction that the named one continues may be the cause instead. */
export function refusePrevious(id: string, fault: PreviousFault, at: string): GatewayError {
  const path = "previous_interaction_id";
  switch (fault) {
    case "missing": {
      const why = at === id ? WHAT_IS_KEPT : ` It continues ${shown(at)}, which has expired or was deleted.`;
      return new GatewayError("invalid_request", `Interaction ${shown(id)} not found.${why}`, { path });
    }
    case "too_large": {
      const message = `The conversation up to ${shown(id)} exceeds the size limit of a request. Start a new conversation, or send only the steps you need in input.`;
      return new GatewayError("invalid_request", message, { path });
    }
    case "pending": {
      const message = `Interaction ${shown(at)} is still in progress. Wait until its status is completed.`;
      return new GatewayError("invalid_request", message, { path });
    }
    case "failed":
    case "cancelled": {
      const message = `Interaction ${shown(at)} was not completed (its status is ${fault}). Continue from another interaction.`;
      return new GatewayError("invalid_request", message, { path });
    }
  }
}

export const notFound = (id: string): GatewayError =>
  new GatewayError("not_found", `Interaction ${shown(id)} not found.`, { path: "id" });

/** All events if there is no id of one. */
export function readShow(query: URLSearchParams): { after: number } | undefined {
  if (query.get("stream") !== "true") return undefined;
  const after = query.get("last_event_id");
  if (after === null || after === "") return { after: -1 };
  if (/^\d{1,9}$/.test(after)) return { after: Number(after) };
  const message = `\`last_event_id\` must be the event_id of an event of this interaction; it is ${shown(after)}.`;
  throw new GatewayError("invalid_request", message, { path: "last_event_id" });
}

export const refuseStream = (id: string): GatewayError =>
  new GatewayError(
    "unsupported_parameter",
    `The events of ${shown(id)} are not available. Only interactions created with both background and stream have events, for a limited time, in the gateway process that created them. Omit \`stream\` to get the interaction.`,
    { path: "stream" },
  );

export const refuseBackground: StoredAnswers["refuseBackground"] = () =>
  new GatewayError(
    "unsupported_parameter",
    "Background interactions must be stored: `store` must not be false in the request, and the gateway's configuration must not turn storing off.",
    { path: "background" },
  );

export const refuseCancel = (id: string): GatewayError =>
  new GatewayError(
    "invalid_request",
    `Cannot cancel interaction ${shown(id)}: only an interaction that was created with background: true and is still in progress can be cancelled.`,
    { path: "id" },
  );
