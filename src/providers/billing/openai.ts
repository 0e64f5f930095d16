import type { BillingTable } from "../../canon/billable.ts";

const PRICES = "https://platform.openai.com/docs/pricing";
const BATCHES = "https://help.openai.com/en/articles/9197833-batch-api-faq";
const AZURE_BATCHES = "https://learn.microsoft.com/en-us/azure/ai-foundry/openai/how-to/batch";
const LITELLM = "litellm 1.109.1, model_prices_and_context_window_backup.json";
const SDK = "openai 7.55.0, resources/responses/responses.d.ts";
const DATE = "2026-11-18";

const price = { source: PRICES, date: DATE };
const listed = { source: LITELLM, date: DATE };
const calculated = { source: "https://platform.openai.com/docs/guides/image-generation", date: DATE };
/** The client runs the tool; the vendor only charges for tokens. */
const byTheCaller = { price: "free", source: SDK, date: DATE } as const;

/** Per container of 1, 4, 16 and 64 GB, for a session of 20 minutes. */
const CONTAINERS = [
  ["", 0.03],
  [":4g", 0.12],
  [":16g", 0.48],
  [":64g", 1.92],
] as const;

export const OPENAI_BILLING: BillingTable = {
  tools: [
    // The older tool costs more with models that do not reason; the tokens of what it finds are then free, and not in the usage.
    {
      name: "web_search_preview",
      match: String.raw`web_search_preview(_\d{4}_\d{2}_\d{2})?`,
      models: String.raw`^gpt-4(o|\.1)\b`,
      price: { unit: "1k_calls", usd: 25 },
      assumed: 5,
      source: PRICES,
      date: "2026-11-19",
    },
    {
      name: "web_search",
      match: String.raw`web_search(_preview)?(_\d{4}_\d{2}_\d{2})?`,
      price: { unit: "1k_calls", usd: 10 },
      assumed: 5,
      ...price,
    },
    { name: "file_search", price: { unit: "1k_calls", usd: 2.5 }, assumed: 5, ...price },
    { name: "file_search", price: { unit: "gb_day", usd: 0.1 }, ...price },
    ...CONTAINERS.map(([size, usd]) => ({
      name: `code_interpreter${size}`,
      ...(size === "" ? { match: "code_execution" } : {}),
      price: { unit: "session" as const, usd },
      ...price,
    })),
    ...CONTAINERS.map(([size, usd]) => ({ name: `shell${size}`, price: { unit: "session" as const, usd }, ...price })),
    { name: "shell:local", ...byTheCaller },
    // The image models are billed by tokens that answers need not report: these are their prices for the largest size.
    { name: "image_generation:low", price: { unit: "image", usd: 0.016 }, ...listed },
    { name: "image_generation:medium", price: { unit: "image", usd: 0.063 }, ...listed },
    { name: "image_generation", match: "image_generation:high", price: { unit: "image", usd: 0.25 }, ...listed },
    { name: "image_generation:xhigh", price: { unit: "image", usd: 0.25 }, ...listed },
    { name: "image_generation:max", price: { unit: "image", usd: 0.41 }, ...listed },
    // The same for sizes that only newer models accept: 2880x2880 takes the most tokens of all.
    { name: "image_generation:low:large", price: { unit: "image", usd: 0.02 }, ...calculated },
    { name: "image_generation:medium:large", price: { unit: "image", usd: 0.18 }, ...calculated },
    { name: "image_generation:xhigh:large", price: { unit: "image", usd: 0.32 }, ...calculated },
    {
      name: "image_generation:large",
      match: "image_generation:(high|max):large",
      price: { unit: "image", usd: 0.72 },
      ...calculated,
    },
    { name: "mcp", match: "mcp(_list_tools|_approval_request)?", price: "free", ...price },
    { name: "tool_search", price: "free", source: SDK, date: DATE },
    // Moderation models are free. The field may name another model, whose tokens no usage reports.
    { name: "moderation", price: "free", ...listed },
    { name: "moderation_by_model", price: "unknown", source: SDK, date: DATE },
    { name: "computer", match: "computer(_use)?(_preview)?", ...byTheCaller },
    { name: "apply_patch", ...byTheCaller },
    { name: "local_shell", ...byTheCaller },
    // The vendor runs the model's program, by itself or in a container; no price was found.
    {
      name: "programmatic_tool_calling",
      match: "program(matic_tool_calling)?",
      price: "unknown",
      source: SDK,
      date: DATE,
    },
  ],
  terms: [
    { name: "batch", price: 0.5, source: BATCHES, date: DATE },
    { name: "flex", price: 0.5, ...listed },
    // What these cost differs from model to model: the catalogue has it where it is known.
    { name: "priority", price: "unknown", ...listed },
    { name: "fast", price: "unknown", source: SDK, date: DATE },
    { name: "ultrafast", price: "unknown", ...listed },
    { name: "scale", price: "unknown", source: SDK, date: DATE },
    { name: "cache-12h", price: "unknown", ...listed },
  ],
};

/** The same tools, under the cloud's prices as far as they are known. */
export const AZURE_BILLING: BillingTable = {
  tools: OPENAI_BILLING.tools.flatMap((entry) => {
    if (entry.price === "free") return [entry];
    if (entry.name === "web_search") return [{ ...entry, price: { unit: "1k_calls", usd: 14 }, ...listed }];
    if (entry.name === "code_interpreter") return [{ ...entry, price: { unit: "session", usd: 0.033 }, ...listed }];
    return [];
  }),
  terms: [{ name: "batch", price: 0.5, source: AZURE_BATCHES, date: DATE }],
};
