import type { JsonObject } from "../../base/json.ts";
import type { Usage } from "../../canon/usage.ts";
import type { AdapterContext, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { ServiceAdapter } from "../service-adapter.ts";

/** Requests and answers are passed on as they are, with the names of the model exchanged. */
export interface CompactionAdapter extends ServiceAdapter {
  submit: (body: JsonObject, context: AdapterContext) => MediaRequest;
  /** Throws a GatewayError where a 2xx holds no items. */
  read: (answer: MediaAnswer) => { body: JsonObject; usage?: Usage };
}
