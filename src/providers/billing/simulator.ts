import type { BillingTable } from "../../canon/billable.ts";
import { ANTHROPIC_BILLING } from "./anthropic.ts";
import { GOOGLE_BILLING } from "./google.ts";
import { OPENAI_BILLING } from "./openai.ts";

/** It plays hosts of all three protocols, and bills as their vendors do. */
export const SIMULATOR_BILLING: BillingTable = {
  tools: [...OPENAI_BILLING.tools, ...ANTHROPIC_BILLING.tools, ...GOOGLE_BILLING.tools],
  terms: [...GOOGLE_BILLING.terms, ...ANTHROPIC_BILLING.terms, ...OPENAI_BILLING.terms],
};
