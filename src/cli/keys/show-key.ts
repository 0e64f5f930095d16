import type { ShownKey } from "../../server/admin/schemas/key.ts";
import { ADMIN_FLAGS, connectAdmin } from "../admin-client.ts";
import { EXIT, printJson, printTable, UsageError } from "../command.ts";
import { defineVerb } from "../with-verbs.ts";

/** Each on its own line, or not settings. */
const OTHERS = ["budgets", "last_24h", "spent_nano_usd", "limits"];

export const showKey = defineVerb({
  name: "show",
  usage: "ID",
  summary: "show a key with its settings, budgets with forecasts, and the last 24 hours; uses a running gateway",
  flags: ADMIN_FLAGS,
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Missing key. Pass the id or the name of a key.");
    const key = (await (await connectAdmin(values)).read(`/api/keys/${encodeURIComponent(id)}`)) as ShownKey;
    if (values.json) printJson(key);
    else {
      const settings = Object.entries({ ...key, ...key.limits }).filter(([name]) => !OTHERS.includes(name));
      for (const [name, value] of settings) if (isSet(value)) console.log(`${name.padEnd(24)} ${shown(value)}`);
      const { calls, failures, refusals } = key.last_24h;
      console.log(`${"last 24 hours".padEnd(24)} ${calls} calls, ${failures} failed, ${refusals} refused`);
      if (key.budgets.length > 0) printTable(HEADER, key.budgets.map(row));
    }
    return EXIT.ok;
  },
});

const HEADER = ["budget", "limit", "spent", "used", "forecast", "used up at"];

const row = (budget: ShownKey["budgets"][number]): string[] => [
  budget.window,
  dollars(budget.limit_nano_usd),
  dollars(budget.spent_nano_usd),
  `${budget.used_percent}%`,
  budget.forecast_nano_usd === null ? "-" : dollars(budget.forecast_nano_usd),
  budget.exceeds_at ?? "-",
];

const dollars = (nano: number): string => `$${(nano / 1e9).toFixed(4)}`;

const isSet = (value: unknown): boolean =>
  value !== null && value !== false && !(typeof value === "object" && Object.keys(value).length === 0);

const shown = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value));
