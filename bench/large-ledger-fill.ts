import { START_SUMS_MS, type Storage } from "../src/storage/storage.ts";

const DAY_MS = 86_400_000;
export const DAYS = 30;
export const FIRST_MS = Date.UTC(2026, 5, 1);

/** Base 36 with nine digits, as ids begin. */
function idOf(ms: string): string {
  const digits = "0123456789abcdefghijklmnopqrstuvwxyz";
  const places = Array.from({ length: 9 }, (_, index) => 36 ** (8 - index));
  return `'rcp_' || ${places.map((place) => `substr('${digits}', CAST((${ms}) / ${place} % 36 AS INTEGER) + 1, 1)`).join(" || ")}`;
}

/** Receipts with the same time between each and the next, in a storage of the version before roll-ups. */
export async function fill(storage: Storage, rows: number): Promise<void> {
  const stepMs = Math.floor((DAYS * DAY_MS) / rows);
  const ms = `(${FIRST_MS} + n * ${stepMs})`;
  const select = `SELECT ${idOf(ms)} || '-' || n, 'project-' || (n % 5), 'key_' || (n % 50), ${ms}, 'acme/m' || (n % 20),
    'host-' || (n % 4), 'upstream', 'generate', 'chat', 'messages', 'translated', 1,
    CASE WHEN n % 25 = 0 THEN 'upstream_failed' ELSE 'ok' END, 1000 + n % 500, 200 + n % 90, 'measured', '0.2 perMTokens prompt',
    1000 + n % 1000, 300 + n % 100, 900 + n % 1000, '[{"provider":"host","outcome":"answered","ms":40}]', '[]'`;
  const columns = `id, project, key_id, created_at_ms, model, provider, upstream_model, verb, client_dialect, upstream_dialect, lane, stream,
    outcome, usage_input, usage_output, usage_source, price_rule, cost_nano_usd, first_content_ms, total_ms, offers, fields`;
  const part = 250_000;
  for (let from = 0; from < rows; from += part) {
    const last = Math.min(rows, from + part) - 1;
    const numbers =
      storage.engine === "postgres"
        ? `(SELECT CAST(generate_series(${from}, ${last}) AS BIGINT) AS n) AS numbers`
        : `(WITH RECURSIVE numbers (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last}) SELECT n FROM numbers)`;
    await storage.query(`INSERT INTO receipts (${columns}) ${select} FROM ${numbers}`, [], START_SUMS_MS);
  }
}
