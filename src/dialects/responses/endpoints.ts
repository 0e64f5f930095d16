import { CHAT_ROOTS } from "../chat/endpoints.ts";
import type { Asks, DialectEndpoint, EndpointCall } from "../endpoint.ts";

/** Under the roots of chat completions, which the same clients call (choices 1); their model lists serve both. */
export const endpoints: readonly DialectEndpoint[] = CHAT_ROOTS.flatMap(([door, root, suffix]): DialectEndpoint[] => {
  const endpoint = (asks: Asks, operation: string, rest = ""): DialectEndpoint => {
    const path = `${root}/responses${rest}`;
    const route = rest.startsWith("/{id}") ? new RegExp(`^${path.replace("{id}", "(?<id>[^/]+)")}$`) : path;
    return { door, path: route, asks, documented: [{ operation, path, suffix }] };
  };
  return [
    endpoint("generate", "createResponse"),
    endpoint("count_tokens", "countResponseTokens", "/input_tokens"),
    endpoint("show_answer", "getResponse", "/{id}"),
    endpoint("delete_answer", "deleteResponse", "/{id}"),
    endpoint("list_input", "listResponseInput", "/{id}/input_items"),
    endpoint("cancel_answer", "cancelResponse", "/{id}/cancel"),
  ];
});

const NOTHING: EndpointCall = { options: undefined };
const NO_STREAM: EndpointCall = { ...NOTHING, stream: false };

/** Everything is in the body. */
export const readCall = (asks: Asks): EndpointCall => (asks === "count_tokens" ? NO_STREAM : NOTHING);
