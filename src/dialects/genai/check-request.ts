import { defineCheck, type RequestCheck } from "../check.ts";
import { countTokensRules, generateContentRules } from "./rules.ts";
import { GenaiCountTokensRequest, GenerateContentRequest } from "./schema.ts";

export const checkGenerateContentRequest: RequestCheck<GenerateContentRequest> = defineCheck(
  GenerateContentRequest,
  generateContentRules,
);
export const checkGenaiCountTokensRequest: RequestCheck<GenaiCountTokensRequest> = defineCheck(
  GenaiCountTokensRequest,
  countTokensRules,
);
