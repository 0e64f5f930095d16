import { defineCheck, type RequestCheck } from "../../reading/check.ts";
import { GenaiCountTokensRequest, GenerateContentRequest } from "./request.ts";
import { countTokensRules, generateContentRules } from "./rules.ts";

export const checkGenerateContentRequest: RequestCheck<GenerateContentRequest> = defineCheck(
  GenerateContentRequest,
  generateContentRules,
);
export const checkGenaiCountTokensRequest: RequestCheck<GenaiCountTokensRequest> = defineCheck(
  GenaiCountTokensRequest,
  countTokensRules,
);
