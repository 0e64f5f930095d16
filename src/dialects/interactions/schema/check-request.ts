import { defineCheck, type RequestCheck } from "../../reading/check.ts";
import { InteractionsRequest } from "./request.ts";
import { interactionsRules } from "./rules.ts";

export const checkInteractionsRequest: RequestCheck<InteractionsRequest> = defineCheck(
  InteractionsRequest,
  interactionsRules,
);
