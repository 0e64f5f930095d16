import type { JsonObject } from "../../base/json.ts";
import { estimateTokens } from "../reading/estimate-tokens.ts";

export const estimateMessagesTokens = (body: JsonObject, surplusBytes?: number): number =>
  estimateTokens([body["system"], body["messages"], body["tools"]], surplusBytes);
