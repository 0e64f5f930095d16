import type { JsonObject } from "../../base/json.ts";
import type { Usage } from "../../canon/usage.ts";
import type { AdapterContext, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { ServiceAdapter } from "../service-adapter.ts";

/** Requests and responses are passed on unchanged, except for the model's name. */
export interface CompactionAdapter extends ServiceAdapter {
  submit: (body: JsonObject, context: AdapterContext) => MediaRequest;
  /** Throws a GatewayError if a 2xx contains no items. */
  read: (answer: MediaAnswer) => { body: JsonObject; usage?: Usage };
}
