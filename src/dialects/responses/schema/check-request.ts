import { defineCheck, type RequestCheck } from "../../reading/check.ts";
import { ResponsesRequest } from "./request.ts";
import { responsesRules } from "./rules.ts";

export const checkResponsesRequest: RequestCheck<ResponsesRequest> = defineCheck(ResponsesRequest, responsesRules);
