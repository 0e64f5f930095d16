import type { DialectName } from "../canon/dialect-name.ts";
import {
  chatModelEntry,
  chatModelList,
  genaiModelEntry,
  genaiModelList,
  messagesModelEntry,
  messagesModelList,
} from "../catalogue/lists.ts";
import type { Model } from "../catalogue/model.ts";
import { namingOf } from "./naming.ts";
import type { Handler, RoutedRequest } from "./routed-request.ts";
import { modelInPath } from "./text-calls.ts";

const LISTS: Readonly<Record<DialectName, (models: readonly Model[], nowMs: number) => object>> = {
  chat: chatModelList,
  messages: messagesModelList,
  genai: genaiModelList,
};

const ENTRIES: Readonly<Record<DialectName, (model: Model, nowMs: number) => object>> = {
  chat: chatModelEntry,
  messages: messagesModelEntry,
  genai: genaiModelEntry,
};

/** One address serves two protocols at the drop-in door; the version header tells the clients apart (choices 1). */
function shapeOf({ request, dialect, door }: RoutedRequest): DialectName {
  if (dialect.name !== "chat" || door === "contract") return dialect.name;
  const { headers } = request;
  return headers.has("anthropic-version") || headers.has("partner-version") ? "messages" : "chat";
}

export const listModels: Handler = (routed, { gateway }) => {
  const models = gateway.snapshot.catalogue.list();
  return Response.json(LISTS[shapeOf(routed)](models, gateway.clock.wallMs()));
};

export const showModel: Handler = (routed, { gateway }) => {
  const { id, publisher } = routed.parameters;
  const name = routed.dialect.name === "genai" || publisher !== undefined ? modelInPath(routed.parameters) : (id ?? "");
  const { model } = gateway.snapshot.catalogue.resolve(name, namingOf(routed));
  return Response.json(ENTRIES[shapeOf(routed)](model, gateway.clock.wallMs()));
};
