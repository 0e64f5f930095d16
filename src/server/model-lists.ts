import { listedModel } from "../catalogue/listed-model.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { namingOf } from "./naming.ts";
import type { Handler, RoutedRequest, ServerContext } from "./routed-request.ts";
import { modelInPath } from "./text-calls.ts";

/** One URL serves two protocols at the drop-in door; the version header tells the clients apart (choices 1). */
function shownTo({ request, dialect, door }: RoutedRequest, { dialects }: ServerContext): Dialect {
  if (dialect.name !== "chat" || door === "contract") return dialect;
  const { headers } = request;
  return headers.has("anthropic-version") || headers.has("partner-version") ? dialects.get("messages") : dialect;
}

export const listModels: Handler = (routed, context) => {
  const { gateway } = context;
  const nowMs = gateway.clock.wallMs();
  const models = gateway.snapshot.catalogue.list().map((model) => listedModel(model, nowMs));
  return Response.json(shownTo(routed, context).http.models.list(models));
};

export const showModel: Handler = (routed, context) => {
  const { gateway } = context;
  const { id, publisher } = routed.parameters;
  const name = routed.dialect.name === "genai" || publisher !== undefined ? modelInPath(routed.parameters) : (id ?? "");
  const { model } = gateway.snapshot.catalogue.resolve(name, namingOf(routed));
  return Response.json(shownTo(routed, context).http.models.entry(listedModel(model, gateway.clock.wallMs())));
};
