import { expect, test } from "bun:test";
import { chat } from "../../dialects/chat/index.ts";
import { ANTHROPIC_BILLING } from "./anthropic.ts";
import { GOOGLE_BILLING } from "./google.ts";
import { OPENAI_BILLING } from "./openai.ts";
import { OPENROUTER_BILLING } from "./openrouter.ts";
import { X_AI_BILLING } from "./x-ai.ts";

// scripts/drift compares the tables with the tools, terms and counters that the vendors' SDKs declare.

test("every line of the tables has its source and date", () => {
  const tables = [OPENAI_BILLING, ANTHROPIC_BILLING, GOOGLE_BILLING, X_AI_BILLING, OPENROUTER_BILLING];
  for (const { tools, terms } of tables) {
    for (const { source, date } of [...tools, ...terms]) {
      expect(source).not.toBe("");
      expect(date).toMatch(/^20\d\d-\d\d-\d\d$/);
    }
  }
});

test("decision 0083: a tool of a kind that the chat SDK does not declare is billable", () => {
  expect(chat.requests.billables({ tools: [{ type: "hologram" }] }, {})).toHaveLength(1);
});
