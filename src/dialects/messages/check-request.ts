import { defineCheck, type RequestCheck } from "../check.ts";
import { messagesRules } from "./rules.ts";
import { CountTokensRequest, MessagesRequest } from "./schema.ts";

export const checkMessagesRequest: RequestCheck<MessagesRequest> = defineCheck(MessagesRequest, messagesRules);
export const checkCountTokensRequest: RequestCheck<CountTokensRequest> = defineCheck(CountTokensRequest, messagesRules);
