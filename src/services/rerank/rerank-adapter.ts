import type { AdapterContext, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { ServiceAdapter } from "../service-adapter.ts";
import type { RerankCall, RerankReply } from "./rerank-call.ts";

export interface RerankAdapter extends ServiceAdapter {
  /** What its price goes by. */
  billedBy: "searches" | "tokens";
  /** The most documents of one request. */
  maxDocuments: number;
  /** It reads `maxTokensPerDocument`. */
  limitsDocuments?: true;
  submit: (call: RerankCall, context: AdapterContext) => MediaRequest;
  /** Throws a GatewayError where a 2xx holds an error, or no result. */
  read: (answer: MediaAnswer, call: RerankCall) => RerankReply;
}
