import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isPresent } from "../../testing/is-present.ts";
import { system } from "../base/system.ts";
import type { Receipt } from "../canon/receipt.ts";
import type { ExportFormat } from "../config/export-format.ts";
import { rowOf } from "../ledger/export.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { ThreadedEncoder } from "./threaded-encoder.ts";

/** As large as no number in JSON can be. */
const LARGE_NANO_USD = 9_007_199_254_740_991;
const AUGUST = Date.UTC(2026, 7, 2);

const RECEIPTS: readonly Receipt[] = [
  sampleReceipt({ id: "rcp_full" }),
  sampleReceipt({ id: "rcp_credit", adjusts: "rcp_full", costNanoUsd: -420_001, usage: {}, totalMs: 0 }),
  sampleReceipt({ id: "rcp_text", model: 'acme/a, "b"', provider: "=1+1", usage: {}, costNanoUsd: LARGE_NANO_USD }),
  sampleReceipt({
    id: "rcp_video",
    verb: "videos",
    usage: { seconds: 7.5 },
    createdAtMs: Date.UTC(2026, 11, 31, 23, 59, 59, 999),
  }),
];

async function encoded(format: ExportFormat, pages: readonly (readonly Receipt[])[], nowMs = AUGUST): Promise<Buffer> {
  const encoder = await ThreadedEncoder.open(format, nowMs, system.clock);
  try {
    const parts: Uint8Array[] = [];
    for (const page of pages) parts.push(await encoder.add(page));
    parts.push(await encoder.end());
    return Buffer.concat(parts);
  } finally {
    encoder.close();
  }
}

/** The rows of a CSV text, by column. */
function csvRows(text: string): Record<string, string>[] {
  const [header = [], ...rows] = text
    .trimEnd()
    .split("\r\n")
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "",
      ),
    );
  return rows.map((row) => Object.fromEntries(header.map((name, at) => [name, row[at] ?? ""])));
}

const python = Bun.which("python3");
const hasDuckdb =
  python !== null && Bun.spawnSync([python, "-c", "import duckdb"], { stderr: "ignore" }).exitCode === 0;

describe("choices 18: formats of exports", () => {
  test("JSONL is what GET /api/usage/export returns", async () => {
    const lines = (await encoded("jsonl", [RECEIPTS.slice(0, 1), RECEIPTS.slice(1)])).toString().trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
      RECEIPTS.map((receipt) => JSON.parse(JSON.stringify(rowOf(receipt))) as unknown),
    );
  });

  test("FOCUS has every mandatory column of version 1.2, and x_receipt", async () => {
    const text = (await encoded("focus", [RECEIPTS])).toString();
    const [header = ""] = text.split("\r\n");
    const columns = header.split(",");
    for (const mandatory of MANDATORY) expect(columns).toContain(mandatory);
    expect(columns.filter((name) => !/^(x_[a-z_]+|[A-Z][A-Za-z]+)$/.test(name))).toEqual([]);
    const [full, credit, formula, video] = csvRows(text);
    expect(full).toMatchObject({
      BilledCost: "0.000420000",
      BillingCurrency: "USD",
      BillingPeriodStart: "2026-01-01T00:00:00Z",
      BillingPeriodEnd: "2026-02-01T00:00:00Z",
      ChargeCategory: "Usage",
      ChargeClass: "",
      ChargePeriodStart: "2026-01-31T12:00:00Z",
      ChargePeriodEnd: "2026-01-31T12:00:01Z",
      ConsumedQuantity: "1500",
      ConsumedUnit: "Tokens",
      PricingQuantity: "1",
      PricingUnit: "Requests",
      ProviderName: "my-vllm",
      PublisherName: "acme",
      ServiceCategory: "AI and Machine Learning",
      ServiceName: "acme/llama",
      SubAccountId: "default",
      Tags: '{"team-a":true,"feature=search":true}',
      x_receipt: "rcp_full",
    });
    // The billing period of January is over.
    expect(credit).toMatchObject({
      BilledCost: "-0.000420001",
      ChargeCategory: "Adjustment",
      ChargeClass: "Correction",
      PricingQuantity: "",
      PricingUnit: "",
      x_adjusts: "rcp_full",
    });
    expect(formula).toMatchObject({
      BilledCost: "9007199.254740991",
      ProviderName: "'=1+1",
      ServiceName: 'acme/a, "b"',
      ConsumedQuantity: "",
      x_prompt_tokens: "",
    });
    expect(video).toMatchObject({
      BillingPeriodEnd: "2027-01-01T00:00:00Z",
      ChargePeriodEnd: "2027-01-01T00:00:01Z",
      ConsumedQuantity: "7.5",
      ConsumedUnit: "Seconds",
    });
  });

  test("FOCUS: a correction within the running billing period has no class", async () => {
    const text = (await encoded("focus", [RECEIPTS], Date.UTC(2026, 0, 31, 23))).toString();
    expect(csvRows(text)[1]).toMatchObject({ ChargeCategory: "Adjustment", ChargeClass: "" });
  });

  test("a file without receipts is valid in its format", async () => {
    expect((await encoded("focus", [])).toString()).toStartWith("BilledCost,");
    expect((await encoded("parquet", [])).subarray(0, 4).toString()).toBe("PAR1");
  });

  test.skipIf(
    !isPresent(hasDuckdb, "the Parquet file read by DuckDB, because the Python package duckdb is not installed"),
  )(
    "DuckDB reads the Parquet file, over several row groups",
    async () => {
      const many = Array.from({ length: 12_000 }, (_, at) =>
        sampleReceipt({
          id: `rcp_${String(at).padStart(6, "0")}`,
          costNanoUsd: at,
          createdAtMs: Date.UTC(2026, 0, 1) + at,
          ...(at % 2 === 0 ? { usage: {} } : {}),
        }),
      );
      const pages = Array.from({ length: 48 }, (_, at) => many.slice(at * 250, at * 250 + 250));
      const folder = mkdtempSync(join(tmpdir(), "trivium-parquet-"));
      const file = join(folder, "receipts.parquet");
      writeFileSync(file, await encoded("parquet", [...pages, RECEIPTS]));
      const program = `
import duckdb, json, sys
of = "read_parquet('" + sys.argv[1] + "')"
db = duckdb.connect()
all = lambda sql: db.execute(sql).fetchall()
one = lambda sql: all(sql)[0]
print(json.dumps({
  "count": one(f"SELECT count(*), count(DISTINCT id), sum(cost_nano_usd)::VARCHAR, count(usage_input), min(created_at)::VARCHAR FROM {of}"),
  "full": one(f"SELECT project, stream, usage_input, usage_seconds, tags, batch_line, epoch_ms(created_at), provider_first_content_ms, adjusts FROM {of} WHERE id = 'rcp_full'"),
  "large": one(f"SELECT cost_nano_usd::VARCHAR, model, provider FROM {of} WHERE id = 'rcp_text'"),
  "groups": one(f"SELECT count(DISTINCT row_group_id) FROM parquet_metadata('{sys.argv[1]}')"),
  "types": dict((row[0], row[1]) for row in all(f"DESCRIBE SELECT * FROM {of}")),
}))`;
      const { stdout, stderr, exitCode } = Bun.spawnSync([python ?? "", "-c", program, file]);
      rmSync(folder, { recursive: true, force: true });
      expect(stderr.toString()).toBe("");
      expect(exitCode).toBe(0);
      const seen = JSON.parse(stdout.toString()) as Record<string, unknown>;
      const sum = BigInt((11_999 * 12_000) / 2) + BigInt(LARGE_NANO_USD) + 420_000n - 420_001n + 420_000n;
      expect(seen).toMatchObject({
        count: [12_004, 12_004, String(sum), 6_001, expect.stringMatching(/^2026-01-01 00:00:00/)],
        full: ["default", true, 1200, 7.5, '["team-a","feature=search"]', 7, Date.UTC(2026, 0, 31, 12), 100, null],
        large: [String(LARGE_NANO_USD), 'acme/a, "b"', "=1+1"],
        groups: [3],
      });
      expect(seen["types"]).toMatchObject({
        id: "VARCHAR",
        stream: "BOOLEAN",
        cost_nano_usd: "BIGINT",
        usage_seconds: "DOUBLE",
      });
    },
    30_000,
  );
});

/** The columns whose feature level is Mandatory in the specification of FOCUS 1.2. */
const MANDATORY = [
  "BilledCost",
  "BillingAccountId",
  "BillingAccountName",
  "BillingCurrency",
  "BillingPeriodEnd",
  "BillingPeriodStart",
  "ChargeCategory",
  "ChargeClass",
  "ChargeDescription",
  "ChargePeriodEnd",
  "ChargePeriodStart",
  "ContractedCost",
  "EffectiveCost",
  "InvoiceIssuerName",
  "ListCost",
  "PricingQuantity",
  "PricingUnit",
  "ProviderName",
  "PublisherName",
  "ServiceCategory",
  "ServiceName",
];
