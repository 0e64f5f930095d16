import { USAGE_DIMENSIONS } from "../src/storage/receipts/usage-question.ts";

/** The reports that a console page requests in parallel when it is opened. */
export interface ConsolePage {
  name: string;
  requests: readonly string[];
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ZONE = "Asia/Kolkata";

function path(to: string, query: Readonly<Record<string, string | number>> = {}): string {
  const text = new URLSearchParams(
    Object.fromEntries(Object.entries(query).map(([name, value]) => [name, `${value}`])),
  );
  return text.size === 0 ? to : `${to}?${text}`;
}

/** As `console/pages` and `console/parts` ask; the pages with filters and dimensions in several forms. `receiptId`: of one that exists. */
export function consolePages(nowMs: number, receiptId: string): ConsolePage[] {
  const ago = (ms: number) => new Date(nowMs - ms).toISOString();
  const month = { from: ago(30 * DAY_MS) };
  const day = { from: ago(DAY_MS) };
  const monthBegan = new Date(nowMs);
  monthBegan.setUTCDate(1);
  monthBegan.setUTCHours(0, 0, 0, 0);
  const overview = (window: string): ConsolePage => ({
    name: `overview, ${window}`,
    requests: [
      path("/api/overview", { window }),
      path("/api/usage", { by: "day", from: monthBegan.toISOString(), zone: ZONE }),
    ],
  });
  const calls = (
    name: string,
    filter: Record<string, string>,
    range: { from: string },
    sums = filter,
  ): ConsolePage => ({
    name: `calls, ${name}`,
    requests: [
      path("/api/receipts", { ...filter, ...range, limit: 50 }),
      path("/api/usage", { ...sums, ...range, by: range === day ? "hour" : "day" }),
    ],
  });
  const usage = (by: string): ConsolePage => ({
    name: `usage, ${by}`,
    requests: [by, "outcome"].map((dimensions) => path("/api/usage", { ...month, zone: ZONE, by: dimensions })),
  });
  const pairs = USAGE_DIMENSIONS.flatMap((one, index) =>
    USAGE_DIMENSIONS.slice(index + 1).map((other) => `${one},${other}`),
  );
  return [
    ...["15m", "1h", "24h", "7d", "30d"].map(overview),
    calls("a day", {}, day),
    calls("30 days", {}, month),
    calls("one key", { key: "key_7" }, month),
    calls("a model and a key", { key: "key_7", model: "acme/m9" }, month),
    calls("one tag", { tag: "team=7" }, month),
    calls("failed", { outcome: "failed" }, month, {}),
    calls("expensive ones", { min_cost: "0.0001" }, month, {}),
    calls("a text without matches", { text: "nowhere" }, month, {}),
    { name: "one call", requests: [path(`/api/receipts/${receiptId}`)] },
    ...["model", "tag", ...pairs].map(usage),
    { name: "keys", requests: [path("/api/keys", { limit: 500 }), path("/api/projects", { limit: 500 })] },
    { name: "projects", requests: [path("/api/projects", { limit: 500 })] },
    { name: "providers", requests: ["/api/providers", path("/api/usage", { by: "provider", days: 1 })] },
    { name: "models", requests: [path("/api/models", { limit: 500 }), path("/api/prices", { limit: 500 })] },
    { name: "operations", requests: [path("/api/operations", { limit: 100 })] },
    { name: "alerts", requests: ["/api/alerts/settings", path("/api/alerts", { limit: 100 })] },
    { name: "audit", requests: [path("/api/audit", { limit: 100 })] },
    { name: "configuration", requests: ["/api/config"] },
  ];
}
