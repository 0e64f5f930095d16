import type { BillingTable } from "../../canon/billable.ts";

const PRICES = "https://platform.claude.com/docs/en/about-claude/pricing";
const BATCHES = "https://platform.claude.com/docs/en/build-with-claude/batch-processing";
const SDK = "@anthropic-ai/sdk 1.10.0, resources/beta/messages/messages.d.ts";
const DATE = "2026-11-18";

const price = { source: PRICES, date: DATE };
const byTheCaller = { price: "free", source: SDK, date: DATE } as const;

export const ANTHROPIC_BILLING: BillingTable = {
  tools: [
    {
      name: "web_search",
      match: String.raw`web_search_\d{8}`,
      price: { unit: "1k_calls", usd: 10 },
      assumed: 5,
      ...price,
    },
    { name: "web_fetch", match: String.raw`web_fetch_\d{8}`, price: "free", ...price },
    // By the hour and container, after hours that are free each month: an answer is billed as one hour.
    {
      name: "code_execution",
      match: String.raw`code_execution(_\d{8})?|(bash|text_editor)_code_execution`,
      price: { unit: "session", usd: 0.05 },
      ...price,
    },
    {
      name: "code_execution:with_web_tools",
      beside: String.raw`web_(search|fetch)_(?!2025|202601|2026020[0-8])20\d{6}`,
      price: "free",
      source: "https://platform.claude.com/docs/en/agents-and-tools/tool-use/code-execution-tool",
      date: "2026-11-19",
    },
    {
      name: "tool_search",
      match: String.raw`tool_search_tool_(regex|bm25)(_\d{8})?`,
      price: "free",
      source: SDK,
      date: DATE,
    },
    { name: "mcp", match: "mcp_toolset", price: "free", source: SDK, date: DATE },
    { name: "bash", match: String.raw`bash_\d{8}`, ...byTheCaller },
    { name: "text_editor", match: String.raw`text_editor_\d{8}`, ...byTheCaller },
    { name: "computer", match: String.raw`computer(_toolset)?_\d{8}`, ...byTheCaller },
    { name: "browser", match: String.raw`browser_toolset_\d{8}`, ...byTheCaller },
    { name: "memory", match: String.raw`memory_\d{8}`, ...byTheCaller },
    // Another model answers, at its own price.
    { name: "advisor", match: String.raw`advisor_\d{8}`, price: "unknown", source: SDK, date: DATE },
  ],
  terms: [
    { name: "batch", price: 0.5, source: BATCHES, date: DATE },
    // Only the batch API grants it; a request for one response cannot ask for it.
    { name: "batch-tier", price: "unknown", source: BATCHES, date: DATE },
    { name: "geo-us", price: 1.1, ...price },
    // Sold by commitment, or at a price of the model's own.
    { name: "priority", price: "unknown", ...price },
    { name: "fast", price: "unknown", ...price },
    { name: "long-context", price: "unknown", ...price },
  ],
};
