import type { Dialect } from "../dialects/dialect.ts";
import type { Asks } from "../dialects/endpoint.ts";
import { VERBS } from "../dialects/genai/endpoints.ts";
import { BUILT_IN_DIALECTS } from "../dialects/index.ts";
import type { DialectRegistry } from "../dialects/registry.ts";
import { type ClientEndpoint, routesTo } from "./endpoints/client-endpoint.ts";
import { ENDPOINTS } from "./endpoints/index.ts";
import { listModels, showModel } from "./endpoints/model-lists.ts";
import { storedAnswer } from "./endpoints/stored-answers.ts";
import { relayCall } from "./endpoints/text-calls.ts";
import type { Method, Route } from "./route-table.ts";
import type { Handler } from "./routed-request.ts";

interface Served {
  methods: readonly Method[];
  access: Route<Handler>["access"];
  handle: Handler;
}

/** The handlers of the endpoints that dialects declare. */
const SERVED: Readonly<Record<Asks, Served>> = {
  generate: { methods: ["POST"], access: "key", handle: relayCall("generate") },
  count_tokens: { methods: ["POST"], access: "key", handle: relayCall("count_tokens") },
  list_models: { methods: ["GET", "HEAD"], access: "open", handle: listModels },
  show_model: { methods: ["GET", "HEAD"], access: "open", handle: showModel },
  show_answer: { methods: ["GET"], access: "key", handle: storedAnswer("show_answer") },
  list_input: { methods: ["GET"], access: "key", handle: storedAnswer("list_input") },
  delete_answer: { methods: ["DELETE"], access: "key", handle: storedAnswer("delete_answer") },
  cancel_answer: { methods: ["POST"], access: "key", handle: storedAnswer("cancel_answer") },
};

function dialectRoutes({ name: dialect, http }: Dialect): Route<Handler>[] {
  return http.endpoints.flatMap(({ door, path: declared, asks, shared = false }) => {
    const { methods, access, handle } = SERVED[asks];
    const path = asks === "show_model" ? withoutVerb(declared) : declared;
    return methods.map((method) => ({ method, path, access, dialect, door, shared, handle }));
  });
}

/**
 * The path of a model's entry. A provider may follow its id after a colon. A verb may not: such a path only takes
 * POST.
 */
const withoutVerb = (path: string | RegExp): string | RegExp =>
  typeof path === "string" ? path : new RegExp(`^(?!.*:(?:${VERBS.join("|")})$)${path.source.slice(1)}`);

/** Every endpoint of a gateway that speaks these dialects. No other endpoint exists. */
export const routesOf = (
  { clients }: DialectRegistry,
  endpoints: readonly ClientEndpoint[] = ENDPOINTS,
): Route<Handler>[] => [...endpoints.flatMap(routesTo), ...clients.flatMap(dialectRoutes)];

export const ROUTES: readonly Route<Handler>[] = routesOf(BUILT_IN_DIALECTS);
