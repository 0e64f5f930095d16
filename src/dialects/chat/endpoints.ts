import type { Door } from "../check.ts";
import type { Endpoint, EndpointCall } from "../endpoint.ts";

/** The protocol's roots at the two doors (choices 1). */
export const CHAT_ROOTS: readonly [Door, string][] = [
  ["contract", "/api/v1"],
  ["dropin", "/v1"],
];

export const endpoints: readonly Endpoint[] = CHAT_ROOTS.flatMap(([door, root]): Endpoint[] => {
  const shared = door === "dropin";
  return [
    { door, path: `${root}/chat/completions`, asks: "generate" },
    { door, path: `${root}/models`, asks: "list_models", shared },
    { door, path: new RegExp(`^${root}/models/(?<id>.+)$`), asks: "show_model", shared },
  ];
});

const NOTHING: EndpointCall = { options: undefined };

/** The body says all. */
export const readCall = (): EndpointCall => NOTHING;
