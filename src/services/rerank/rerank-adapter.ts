import type { AdapterContext, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { ServiceAdapter } from "../service-adapter.ts";
import type { RerankCall, RerankReply } from "./rerank-call.ts";

export interface RerankAdapter extends ServiceAdapter {
  /** The unit that it is billed by. */
  billedBy: "searches" | "tokens";
  /** The most documents of one request. */
  maxDocuments: number;
  /** It reads `maxTokensPerDocument`. */
  limitsDocuments?: true;
  submit: (call: RerankCall, context: AdapterContext) => MediaRequest;
  /** Throws a GatewayError if a 2xx contains an error, or no result. */
  read: (answer: MediaAnswer, call: RerankCall) => RerankReply;
}
