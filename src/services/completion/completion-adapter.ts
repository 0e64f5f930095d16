import type { JsonObject } from "../../base/json.ts";
import type { AdapterContext, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { ServiceAdapter } from "../service-adapter.ts";
import type { CompletionPart } from "./completion-part.ts";

/** Requests and responses are passed on unchanged, except for the model's name. */
export interface CompletionAdapter extends ServiceAdapter {
  submit: (body: JsonObject, context: AdapterContext) => MediaRequest;
  /** Throws a GatewayError if a 2xx contains no completion. */
  read: (answer: MediaAnswer) => CompletionPart;
  /** One server-sent event's data, parsed. Throws a GatewayError if it is an error event. */
  readEvent: (event: JsonObject) => CompletionPart;
}
