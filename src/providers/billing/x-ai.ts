import type { BillingTable } from "../../canon/billable.ts";

const PRICES = "https://docs.x.ai/developers/pricing";
const DATE = "2026-11-18";
const price = { source: PRICES, date: DATE };

export const X_AI_BILLING: BillingTable = {
  tools: [
    {
      name: "web_search",
      match: String.raw`web_search(_preview)?(_\d{4}_\d{2}_\d{2})?`,
      price: { unit: "1k_calls", usd: 5 },
      assumed: 5,
      ...price,
    },
    { name: "x_search", price: { unit: "1k_calls", usd: 5 }, assumed: 25, ...price },
    {
      name: "code_interpreter",
      match: "code_(interpreter|execution)",
      price: { unit: "1k_calls", usd: 5 },
      assumed: 5,
      ...price,
    },
    {
      name: "file_search",
      match: "(file|collections)_search",
      price: { unit: "1k_calls", usd: 2.5 },
      assumed: 5,
      ...price,
    },
    {
      name: "attachment_search",
      match: "(attachment|document)_search",
      price: { unit: "1k_calls", usd: 10 },
      assumed: 5,
      ...price,
    },
    // By the source that an answer used.
    {
      name: "live_search",
      price: { unit: "1k_calls", usd: 25 },
      assumed: 20,
      source: "third-party documents; not confirmed on the vendor's pricing page",
      date: DATE,
    },
    { name: "mcp", price: "free", ...price },
  ],
  terms: [],
};
