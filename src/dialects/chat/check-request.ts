import { defineCheck, type RequestCheck } from "../check.ts";
import { chatRules } from "./rules.ts";
import { ChatRequest } from "./schema.ts";

export const checkChatRequest: RequestCheck<ChatRequest> = defineCheck(ChatRequest, chatRules);
