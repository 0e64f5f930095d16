import { CHAT_ROOTS } from "../chat/endpoints.ts";
import type { Asks, Endpoint, EndpointCall } from "../endpoint.ts";

/** Of an answer that is kept, or of something about it. */
const answerPath = (root: string, end = ""): RegExp => new RegExp(`^${root}/responses/(?<id>[^/]+)${end}$`);

/** Under the roots of chat completions, which the same clients call (choices 1); their model lists serve both. */
export const endpoints: readonly Endpoint[] = CHAT_ROOTS.flatMap(([door, root]): Endpoint[] => [
  { door, path: `${root}/responses`, asks: "generate" },
  { door, path: `${root}/responses/input_tokens`, asks: "count_tokens" },
  { door, path: answerPath(root), asks: "show_answer" },
  { door, path: answerPath(root), asks: "delete_answer" },
  { door, path: answerPath(root, "/input_items"), asks: "list_input" },
  { door, path: answerPath(root, "/cancel"), asks: "cancel_answer" },
]);

const NOTHING: EndpointCall = { options: undefined };
const NO_STREAM: EndpointCall = { ...NOTHING, stream: false };

/** The body says all. */
export const readCall = (asks: Asks): EndpointCall => (asks === "count_tokens" ? NO_STREAM : NOTHING);
