import type { BillingTable } from "../../canon/billable.ts";
import { ANTHROPIC_BILLING } from "./anthropic.ts";

const PRICES = "https://ai.google.dev/gemini-api/docs/pricing";
const BATCHES = "https://ai.google.dev/gemini-api/docs/batch-api";
const LITELLM = "litellm 1.109.1, model_prices_and_context_window_backup.json";
const SDK = "@google/genai 3.1.0, dist/genai.d.ts";
const DATE = "2026-11-18";

const price = { source: PRICES, date: DATE };
const noPrice = { price: "unknown", source: SDK, date: DATE } as const;

const SEARCHES = "googleSearch(Retrieval)?|google_search|enterpriseWebSearch";

export const GOOGLE_BILLING: BillingTable = {
  tools: [
    // By the prompt, however many queries the model made of it.
    {
      name: "web_search",
      match: SEARCHES,
      models: String.raw`^gemini-[12]\b`,
      price: { unit: "session", usd: 0.035 },
      source: PRICES,
      date: "2026-11-19",
    },
    // The higher of the two prices; the catalogue has the price of each known model.
    {
      name: "web_search",
      match: SEARCHES,
      price: { unit: "1k_calls", usd: 35 },
      assumed: 5,
      source: LITELLM,
      date: DATE,
    },
    { name: "googleMaps", match: "google_maps", price: { unit: "1k_calls", usd: 25 }, source: LITELLM, date: DATE },
    { name: "urlContext", match: "(web_fetch|url_context)", price: "free", ...price },
    { name: "codeExecution", match: "code_execution", price: "free", ...price },
    // Files are charged when they are indexed; a search costs tokens alone.
    { name: "fileSearch", match: "file_search", price: "free", ...price },
    { name: "computerUse", match: "computer_use", price: "free", source: SDK, date: DATE },
    { name: "mcpServers", match: "mcp(_server(_tool)?)?", price: "free", source: SDK, date: DATE },
    { name: "retrieval", ...noPrice },
    { name: "exaAiSearch", ...noPrice },
    { name: "parallelAiSearch", ...noPrice },
    // What the model does to look closer at media, if a part requests `mediaProcessing`.
    { name: "mediaProcessing", ...noPrice },
  ],
  terms: [
    { name: "batch", price: 0.5, source: BATCHES, date: DATE },
    { name: "flex", price: 0.5, source: LITELLM, date: DATE },
    { name: "priority", price: 1.8, source: LITELLM, date: DATE },
    { name: "deferred", ...noPrice },
    { name: "offpeak", ...noPrice },
    { name: "provisioned_throughput", ...noPrice },
  ],
};

/** The cloud also serves the models of another vendor, whose tools have other names. */
export const VERTEX_BILLING: BillingTable = {
  tools: [...GOOGLE_BILLING.tools, ...ANTHROPIC_BILLING.tools],
  terms: GOOGLE_BILLING.terms,
};
