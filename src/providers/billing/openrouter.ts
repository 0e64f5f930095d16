import type { BillingTable } from "../../canon/billable.ts";

const PRICES = "https://openrouter.ai/announcements/introducing-web-search-via-the-api";
const PLUGINS = "https://openrouter.ai/docs/guides/features/plugins";
const DATE = "2026-11-18";

export const OPENROUTER_BILLING: BillingTable = {
  tools: [
    // For each result: it fetches five where the request sets no number.
    { name: "plugin:web", price: { unit: "call", usd: 0.004 }, assumed: 5, source: PRICES, date: DATE },
    { name: "plugin:response-healing", price: "free", source: PLUGINS, date: DATE },
    // By the page, with the engine that reads scanned files.
    { name: "plugin:file-parser", price: "unknown", source: PLUGINS, date: DATE },
  ],
  terms: [],
};
