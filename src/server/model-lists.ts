import { listedModel } from "../catalogue/listed-model.ts";
import { namingOf } from "./naming.ts";
import type { Handler, RoutedRequest, ServerContext } from "./routed-request.ts";

/** If one endpoint serves several protocols, a version header distinguishes their clients (choices 1). */
function listsFor({ request: { headers }, dialect }: RoutedRequest, { dialects }: ServerContext, shared: boolean) {
  const other = shared
    ? dialects.clients.find(({ http }) => http.versionHeaders?.some((name) => headers.has(name)))
    : undefined;
  return (other ?? dialect).http.models;
}

export const listModels =
  (shared: boolean): Handler =>
  (routed, context) => {
    const { catalogue } = context.gateway.snapshot;
    const nowMs = context.gateway.clock.wallMs();
    const models = catalogue.list().map((model) => listedModel(model, nowMs));
    return Response.json(listsFor(routed, context, shared).list(models));
  };

export const showModel =
  (shared: boolean): Handler =>
  (routed, context) => {
    const { catalogue } = context.gateway.snapshot;
    const { model } = catalogue.resolve(routed.dialect.http.readModel(routed.parameters), namingOf(routed));
    return Response.json(listsFor(routed, context, shared).entry(listedModel(model, context.gateway.clock.wallMs())));
  };
