import { CHAT_ROOTS } from "../chat/endpoints.ts";
import type { Asks, Endpoint, EndpointCall } from "../endpoint.ts";

/** Under the roots of chat completions, which the same clients call (choices 1); their model lists serve both. */
export const endpoints: readonly Endpoint[] = CHAT_ROOTS.flatMap(([door, root]): Endpoint[] => [
  { door, path: `${root}/responses`, asks: "generate" },
  { door, path: `${root}/responses/input_tokens`, asks: "count_tokens" },
]);

const NOTHING: EndpointCall = { options: undefined };
const NO_STREAM: EndpointCall = { ...NOTHING, stream: false };

/** The body says all. */
export const readCall = (asks: Asks): EndpointCall => (asks === "count_tokens" ? NO_STREAM : NOTHING);
