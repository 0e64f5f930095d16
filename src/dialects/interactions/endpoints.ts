import type { Asks, DialectEndpoint, EndpointCall } from "../endpoint.ts";
import { ROOTS, VERSION } from "../genai/endpoints.ts";
import type { Door } from "../reading/check.ts";

/** The documented paths at each door, and the suffix of operation ids there. */
const DOCUMENTED: Readonly<Record<Door, readonly [root: string, suffix: string][]>> = {
  contract: [
    ["/api/genai/v1beta/interactions", ""],
    ["/api/vertex-ai/v1beta/interactions", "Alias"],
  ],
  dropin: [
    ["/v1beta/interactions", "DropIn"],
    ["/v1/interactions", "DropInStable"],
  ],
};

/** Under the roots of the vendor's other protocol, which the same clients call (choices 1); its model lists serve both. */
export const endpoints: readonly DialectEndpoint[] = ROOTS.flatMap(([door, root]): DialectEndpoint[] => {
  const endpoint = (asks: Asks, operation: string, rest = ""): DialectEndpoint => ({
    door,
    path: new RegExp(`^${root}${VERSION}interactions${rest.replace("{id}", "(?<id>[^/]+)")}$`),
    asks,
    documented: DOCUMENTED[door].map(([path, suffix]) => ({ operation, path: `${path}${rest}`, suffix })),
  });
  return [
    endpoint("generate", "createInteraction"),
    endpoint("show_answer", "getInteraction", "/{id}"),
    endpoint("delete_answer", "deleteInteraction", "/{id}"),
    endpoint("cancel_answer", "cancelInteraction", "/{id}/cancel"),
  ];
});

const NOTHING: EndpointCall = { options: undefined };

/** Everything is in the body. */
export const readCall = (): EndpointCall => NOTHING;
