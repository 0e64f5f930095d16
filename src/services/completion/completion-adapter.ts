import type { JsonObject } from "../../base/json.ts";
import type { AdapterContext, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { ServiceAdapter } from "../service-adapter.ts";
import type { CompletionPart } from "./completion-part.ts";

/** Requests and answers are passed on as they are, with the names of the model exchanged. */
export interface CompletionAdapter extends ServiceAdapter {
  submit: (body: JsonObject, context: AdapterContext) => MediaRequest;
  /** Throws a GatewayError where a 2xx holds no completion. */
  read: (answer: MediaAnswer) => CompletionPart;
  /** One server-sent event's data, parsed. Throws a GatewayError where it is an error event. */
  readEvent: (event: JsonObject) => CompletionPart;
}
