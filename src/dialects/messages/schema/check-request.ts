import { defineCheck, type RequestCheck } from "../../reading/check.ts";
import { CountTokensRequest, MessagesRequest } from "./request.ts";
import { messagesRules } from "./rules.ts";

export const checkMessagesRequest: RequestCheck<MessagesRequest> = defineCheck(MessagesRequest, messagesRules);
export const checkCountTokensRequest: RequestCheck<CountTokensRequest> = defineCheck(CountTokensRequest, messagesRules);
