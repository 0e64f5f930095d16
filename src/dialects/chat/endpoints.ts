import type { DialectEndpoint, EndpointCall } from "../endpoint.ts";
import type { Door } from "../reading/check.ts";

/** The protocol's base paths at the two doors (choices 1), and the suffix of operation ids there. */
export const CHAT_ROOTS: readonly [door: Door, root: string, suffix: string][] = [
  ["contract", "/api/v1", ""],
  ["dropin", "/v1", "DropIn"],
];

export const endpoints: readonly DialectEndpoint[] = CHAT_ROOTS.flatMap(([door, root, suffix]): DialectEndpoint[] => {
  const shared = door === "dropin";
  const documented = (operation: string, rest: string) => [{ operation, path: `${root}${rest}`, suffix }];
  return [
    {
      door,
      path: `${root}/chat/completions`,
      asks: "generate",
      documented: documented("createChatCompletion", "/chat/completions"),
    },
    {
      door,
      path: `${root}/models`,
      asks: "list_models",
      shared,
      documented: documented(shared ? "listModels" : "listChatModels", "/models"),
    },
    {
      door,
      path: new RegExp(`^${root}/models/(?<id>.+)$`),
      asks: "show_model",
      shared,
      documented: documented(shared ? "getModel" : "getChatModel", "/models/{provider}/{model}"),
    },
  ];
});

const NOTHING: EndpointCall = { options: undefined };

/** Everything is in the body. */
export const readCall = (): EndpointCall => NOTHING;
