import { defineCheck, type RequestCheck } from "../check.ts";
import { responsesRules } from "./rules.ts";
import { ResponsesRequest } from "./schema.ts";

export const checkResponsesRequest: RequestCheck<ResponsesRequest> = defineCheck(ResponsesRequest, responsesRules);
