import { afterAll, beforeAll, describe, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { runCommand } from "../src/cli/run-command.ts";
import { insertReceipts } from "../src/storage/receipts/receipts.ts";
import type { UsageDimension } from "../src/storage/receipts/usage-question.ts";
import { type TestDatabases, testDatabases } from "../testing/test-databases.ts";
import { runProgram } from "./support/program.ts";
import { drawer } from "./support/random-load.ts";
import { sumOf } from "./support/read-metrics.ts";
import { drawHistory, receiptIdAt, TotalsWorld } from "./support/totals-world.ts";
import {
  type Amounts,
  type COUNTERS,
  type CountedReceipt,
  countReceipt,
  groupName,
  groupReceipts,
  QUESTIONS,
  readCsv,
  sorted,
  sumOfAll,
  usageOf,
} from "./support/usage-groups.ts";

setDefaultTimeout(240_000);

/** TRIVIUM_TOTALS_SEED repeats the same calls. */
const SEED = Number(process.env["TRIVIUM_TOTALS_SEED"] ?? crypto.getRandomValues(new Uint32Array(1))[0]);
const ZONES = ["UTC", "Asia/Kolkata", "America/New_York"] as const;
const HOUR_MS = 3_600_000;
/** In the night to November 1, clocks go back in New York. */
const RANGE = { fromMs: Date.UTC(2026, 9, 29), toMs: Date.UTC(2026, 10, 5) };
const FROM_TO = { from: new Date(RANGE.fromMs).toISOString(), to: new Date(RANGE.toMs).toISOString() };
/** Seconds before midnight in the three zones, and within the hour that New York has twice. */
const MOMENTS = [
  Date.UTC(2026, 9, 30, 18, 29, 58),
  Date.UTC(2026, 9, 31, 23, 59, 58),
  Date.UTC(2026, 10, 1, 3, 59, 58),
  Date.UTC(2026, 10, 1, 5, 59, 58),
  Date.UTC(2026, 10, 2, 4, 59, 58),
  Date.UTC(2026, 10, 3, 18, 29, 58),
];
const CALLS_EACH = 36;

interface Shown {
  data: (Amounts & { groups: string[] })[];
  total: Amounts;
  groups_left_out: boolean;
}

const amountsOf = ({ calls, failures, cost_nano_usd, usage }: Amounts): Amounts => ({
  calls,
  failures,
  cost_nano_usd,
  usage: usageOf(usage),
});
const groupsOf = ({ data }: Pick<Shown, "data">) =>
  new Map(data.map((row) => [groupName(row.groups), amountsOf(row)] as const));

/** The totals of one query, as `trivium usage --json` prints them. */
function readPrinted(text: string): Pick<Shown, "data"> {
  const rows = JSON.parse(text) as {
    groups: string[];
    calls: number;
    failures: number;
    costNanoUsd: number;
    usage: Record<string, number>;
  }[];
  return {
    data: rows.map(({ groups, calls, failures, costNanoUsd, usage }) => ({
      groups,
      calls,
      failures,
      cost_nano_usd: costNanoUsd,
      usage: usageOf(Object.fromEntries(Object.entries(usage).map(([name, value]) => [snake(name), value]))),
    })),
  };
}
const snake = (name: string): string => name.replaceAll(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`);

/** Runs a command in this process, and returns what it prints. */
async function printed(...args: string[]): Promise<string> {
  const log = spyOn(console, "log").mockImplementation(() => {});
  const error = spyOn(console, "error").mockImplementation(() => {});
  try {
    const code = await runCommand(args);
    const said = error.mock.calls.join("\n");
    if (code !== 0) throw new Error(`trivium ${args.join(" ")}: ${code} ${said}`);
    return log.mock.calls.map(([text]) => String(text)).join("\n");
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
}

function totalsContract(databases: TestDatabases): void {
  describe(`console 5.4: totals agree on ${databases.engine} (TRIVIUM_TOTALS_SEED=${SEED})`, () => {
    let world: TotalsWorld;
    let receipts: (CountedReceipt & { instance: string })[];
    beforeAll(async () => {
      const draw = drawer(SEED);
      world = await TotalsWorld.start(await databases.withTables(), MOMENTS[0] ?? 0, drawHistory(draw, 150, RANGE));
      for (const moment of MOMENTS) {
        await world.play(draw, moment, CALLS_EACH);
        // Written by others while the gateway runs, for times that it has already summed up.
        await insertReceipts(world.storage, drawHistory(draw, 30, RANGE));
      }
      receipts = await world.stored();
    });
    afterAll(async () => {
      await world.stop();
      await databases.clear();
    });

    const usage = async (by: readonly UsageDimension[], query: Readonly<Record<string, string>>): Promise<Shown> =>
      JSON.parse(await world.ask("/api/usage", { by: by.join(","), ...query })) as Shown;
    const ofGateway = () => receipts.filter(({ instance }) => instance !== "instance_of_before");

    test("the load has calls of all kinds, and each request is a call or was refused", async () => {
      const metrics = await world.metrics();
      expect(sumOf(metrics, "trivium_calls_total") + sumOf(metrics, "trivium_refusals_total")).toBe(world.sent);
      expect(ofGateway().length).toBeGreaterThan(0.7 * world.sent);
      const outcomes = new Set(ofGateway().map(({ names }) => names.outcome));
      expect(outcomes.size).toBeGreaterThan(2);
    });

    for (const zone of ZONES) {
      test(`the Admin API and the command match the receipts for every two dimensions in ${zone}`, async () => {
        const total = sumOfAll(receipts);
        expect(total.cost_nano_usd).toBeGreaterThan(0);
        for (const by of QUESTIONS) {
          const shown = await usage(by, { ...FROM_TO, zone });
          const expected = sorted(groupReceipts(receipts, by, zone));
          expect([by, sorted(groupsOf(shown))]).toEqual([by, expected]);
          expect(amountsOf(shown.total)).toEqual(total);
          if (!by.includes("tag") && !by.includes("end_user")) expect(sumOfAll(shown.data)).toEqual(total);
          const { adminUrl, adminSecret } = world.gateway;
          const asked = [
            "usage",
            "--by",
            by.join(","),
            "--from",
            FROM_TO.from,
            "--to",
            FROM_TO.to,
            "--zone",
            zone,
            "--json",
          ];
          const told = readPrinted(await printed(...asked, "--url", adminUrl, "--secret", adminSecret));
          expect([by, sorted(groupsOf(told))]).toEqual([by, expected]);
          if (by.length === 2) continue;
          const local = readPrinted(await printed(...asked, "--config", world.gateway.configFile));
          expect([by, sorted(groupsOf(local))]).toEqual([by, expected]);
        }
      });
    }

    test("a range within hours, and each filter, match their receipts", async () => {
      const draw = drawer(SEED + 1);
      for (let round = 0; round < 12; round += 1) {
        const fromMs = RANGE.fromMs + draw(RANGE.toMs - RANGE.fromMs - HOUR_MS);
        const toMs = fromMs + 1 + draw(RANGE.toMs - fromMs);
        const within = receipts.filter(({ createdAtMs: at }) => at >= fromMs && at < toMs);
        const range = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
        for (const zone of ZONES) {
          const by = QUESTIONS[draw(QUESTIONS.length)] ?? [];
          const shown = await usage(by, { ...range, zone });
          expect([by, range, sorted(groupsOf(shown))]).toEqual([by, range, sorted(groupReceipts(within, by, zone))]);
          expect(amountsOf(shown.total)).toEqual(sumOfAll(within));
        }
      }
      for (const dimension of ["project", "key", "model", "provider", "outcome", "tag"] as const) {
        for (const [name, expected] of groupReceipts(receipts, [dimension], "UTC")) {
          const filter = { ...FROM_TO, [dimension]: name };
          const shown = await usage(["day"], { ...filter, zone: "America/New_York" });
          expect([filter, amountsOf(shown.total)]).toEqual([filter, expected]);
        }
      }
    });

    test("a day of a time zone is the same for the Admin API and the command", async () => {
      const { adminUrl, adminSecret } = world.gateway;
      for (const zone of ZONES) {
        for (const [from, to] of [
          ["2026-11-01", "2026-11-02"],
          ["2026-10-31", "2026-11-03"],
        ] as const) {
          const expected = sorted(groupReceipts(receipts, ["day"], zone)).filter(([day]) => day >= from && day < to);
          const shown = await usage(["day"], { from, to, zone });
          expect([zone, sorted(groupsOf(shown))]).toEqual([zone, expected]);
          const asked = ["usage", "--by", "day", "--from", from, "--to", to, "--zone", zone, "--json"];
          const told = readPrinted(await printed(...asked, "--url", adminUrl, "--secret", adminSecret));
          expect([zone, sorted(groupsOf(told))]).toEqual([zone, expected]);
        }
      }
      const { total } = await usage(["model"], { to: "2026-11-20" });
      expect(amountsOf(total)).toEqual(sumOfAll(receipts.filter(({ createdAtMs: at }) => at >= Date.UTC(2026, 9, 21))));
    });

    test("exports and lists have every receipt once", async () => {
      const plain = receipts.map(({ instance: _, ...receipt }) => receipt);
      const ofCsv = (text: string) =>
        readCsv(text).map((row) => countReceipt(row, row, row["tags"] === "" ? [] : (row["tags"]?.split(" ") ?? [])));
      // A cell that a spreadsheet would execute is prefixed with an apostrophe.
      const defused = plain.map((receipt) => ({
        ...receipt,
        names: { ...receipt.names, model: receipt.names.model.replace(/^=/, "'=") },
        endUser: receipt.endUser.replace(/^=/, "'="),
      }));
      expect(ofCsv(await world.ask("/api/usage/export", { ...FROM_TO, format: "csv" }))).toEqual(defused);
      const { adminUrl, adminSecret } = world.gateway;
      const range = ["--from", FROM_TO.from, "--to", FROM_TO.to];
      const { stdout, code } = await runProgram(["usage", "export", ...range, "--url", adminUrl], {
        cwd: world.gateway.folder,
        env: { TRIVIUM_ADMIN_SECRET: adminSecret },
      });
      expect([code, ofCsv(stdout)]).toEqual([0, defused]);
      const lines = (await world.ask("/api/usage/export", { ...FROM_TO, format: "jsonl" })).split("\n").slice(0, -1);
      expect(lines.map((line) => ofJson(JSON.parse(line) as Json))).toEqual(plain);
      const listed: CountedReceipt[] = [];
      for (let after: string | null = ""; after !== null; ) {
        const query = { ...FROM_TO, limit: "100", ...(after === "" ? {} : { after }) };
        const page = JSON.parse(await world.ask("/api/receipts", query)) as { data: Json[]; next: string | null };
        listed.push(...page.data.map(ofJson));
        after = page.next;
      }
      expect(listed.toReversed()).toEqual(plain);
    });

    test("metrics match the receipts of their process", async () => {
      const metrics = await world.metrics();
      const own = ofGateway();
      const labels = (by: readonly UsageDimension[], name: string) =>
        Object.fromEntries(by.map((dimension, index) => [dimension, name.split(" | ")[index] ?? ""]));
      const CALLS = ["model", "provider", "dialect", "outcome"] as const;
      const COST = ["model", "provider", "project"] as const;
      const asked = (known: readonly UsageDimension[]) =>
        QUESTIONS.filter((by) => by.every((one) => known.includes(one)));
      for (const by of asked(CALLS)) {
        for (const [name, { calls }] of groupReceipts(own, by, "UTC")) {
          expect([name, sumOf(metrics, "trivium_calls_total", labels(by, name))]).toEqual([name, calls]);
        }
      }
      for (const by of asked(COST)) {
        for (const [name, { cost_nano_usd }] of groupReceipts(own, by, "UTC")) {
          expect([name, nanoOf(metrics, labels(by, name))]).toEqual([name, cost_nano_usd]);
        }
      }
      for (const by of asked(["model", "provider"])) {
        for (const [name, { usage: used }] of groupReceipts(own, by, "UTC")) {
          const counted = TOKEN_KINDS.map(([kind]) =>
            sumOf(metrics, "trivium_tokens_total", { ...labels(by, name), kind }),
          );
          expect([name, counted]).toEqual([name, TOKEN_KINDS.map(([, counters]) => sumCounters(used, counters))]);
        }
      }
      const total = sumOfAll(own);
      expect(sumOf(metrics, "trivium_calls_total")).toBe(total.calls);
      expect(nanoOf(metrics, {})).toBe(total.cost_nano_usd);
      const tokens = TOKEN_KINDS.flatMap(([, counters]) => counters);
      expect(sumOf(metrics, "trivium_tokens_total")).toBe(sumCounters(total.usage, tokens));
    });

    test("the spending of keys and projects, and the overview, match the same receipts", async () => {
      const day = "2026-11-03";
      const month = "2026-11";
      const [week, quarter] = ["2026-11-02", "2026-10"];
      for (const [path, dimension] of [
        ["/api/keys", "key"],
        ["/api/projects", "project"],
      ] as const) {
        const { data } = JSON.parse(await world.ask(path)) as { data: { id: string; spent_nano_usd: Json }[] };
        expect(data.length).toBeGreaterThan(1);
        for (const { id, spent_nano_usd } of data) {
          const own = receipts.filter(({ names }) => names[dimension] === id);
          const since = (begin: string) =>
            sumOfAll(own.filter(({ createdAtMs }) => createdAtMs >= Date.parse(begin))).cost_nano_usd;
          const spent = { week: since(week), quarter: since(quarter), total: since("2000") };
          expect([id, spent_nano_usd]).toEqual([id, { day: since(day), month: since(month), ...spent }]);
        }
      }
      for (const window of ["15m", "1h", "24h", "7d", "30d"]) {
        const { data } = JSON.parse(await world.ask("/api/overview", { window })) as { data: Overview };
        const within = receipts.filter(
          ({ createdAtMs: at }) => at >= Date.parse(data.from) && at < Date.parse(data.to),
        );
        const { calls, failures, cost_nano_usd, usage: used } = sumOfAll(within);
        const expected = {
          calls,
          failures,
          cost_nano_usd,
          input_tokens: sumCounters(used, ["input", "cache_write_5m", "cache_write_1h", "image_input", "audio_input"]),
          cached_tokens: used.cache_read,
          output_tokens: sumCounters(used, ["output", "reasoning", "image_output", "audio_output"]),
        };
        expect([window, data.total]).toMatchObject([window, expected]);
        for (const [name, value] of Object.entries(expected)) {
          const ofParts = data.series.reduce((sum, part) => sum + Number(part[name]), 0);
          expect([window, name, ofParts]).toEqual([window, name, value]);
        }
      }
    });

    test("if there are more groups than a response holds, it says so, and the total includes them all", async () => {
      const hours = Array.from({ length: 1_100 }, (_, hour) => Date.UTC(2025, 0, 1, hour));
      const [first = 0, last = 0] = [hours[0], hours.at(-1)];
      const range = { fromMs: first, toMs: last + HOUR_MS };
      const [sample] = drawHistory(drawer(SEED), 1, range);
      if (sample === undefined) throw new Error("no receipt was drawn");
      const { adjusts: _, ...call } = sample;
      const many = hours.map((ms, index) => ({
        ...call,
        id: receiptIdAt(ms, index),
        createdAtMs: ms,
        costNanoUsd: 1_001,
      }));
      await insertReceipts(world.storage, many);
      const query = { from: new Date(range.fromMs).toISOString(), to: new Date(range.toMs).toISOString() };
      const shown = await usage(["hour"], query);
      expect([shown.data.length, shown.groups_left_out]).toEqual([1_000, true]);
      expect(shown.total).toMatchObject({ calls: 1_100, cost_nano_usd: 1_100 * 1_001 });
      expect((await usage(["day"], query)).groups_left_out).toBe(false);
      const { adminUrl, adminSecret } = world.gateway;
      const told = await printed(
        "usage",
        "--by",
        "hour",
        "--from",
        query.from,
        "--to",
        query.to,
        "--url",
        adminUrl,
        "--secret",
        adminSecret,
      );
      expect(told).toEndWith("The result is limited to 1000 groups.\nTotal: 1100 calls, 0.001101 USD.");
    });

    test("the sums by hour and day are those of the receipts", async () => {
      expect(await printed("usage", "check", "--config", world.gateway.configFile)).toContain("all totals match");
    });
  });
}

type Json = Record<string, unknown>;
interface Overview {
  from: string;
  to: string;
  total: Json;
  series: Json[];
}

const ofJson = (row: Json): CountedReceipt =>
  countReceipt(
    { ...row, client_dialect: (row["dialect"] as Json)["client"] },
    row["usage"] as Json,
    row["tags"] as string[],
  );

const TOKEN_KINDS = [
  ["input", ["input"]],
  ["cache_read", ["cache_read"]],
  ["cache_write", ["cache_write_5m", "cache_write_1h"]],
  ["output", ["output"]],
  ["reasoning", ["reasoning"]],
  ["image_input", ["image_input"]],
  ["audio_input", ["audio_input"]],
  ["image_output", ["image_output"]],
  ["audio_output", ["audio_output"]],
] as const satisfies readonly [string, readonly (typeof COUNTERS)[number][]][];

const sumCounters = (used: Amounts["usage"], counters: readonly (typeof COUNTERS)[number][]): number =>
  counters.reduce((sum, counter) => sum + used[counter], 0);

const nanoOf = (metrics: Parameters<typeof sumOf>[0], labels: Record<string, string>): number =>
  Math.round(sumOf(metrics, "trivium_cost_usd_total", labels) * 1e9);

for (const databases of testDatabases("totals")) totalsContract(databases);
