import { defineCheck, type RequestCheck } from "../../reading/check.ts";
import { ChatRequest } from "./request.ts";
import { chatRules } from "./rules.ts";

export const checkChatRequest: RequestCheck<ChatRequest> = defineCheck(ChatRequest, chatRules);
