import { USAGE_DIMENSIONS, type UsageDimension } from "../../src/storage/receipts/usage-question.ts";

export const COUNTERS = [
  "input",
  "cache_read",
  "cache_write_5m",
  "cache_write_1h",
  "output",
  "reasoning",
  "image_input",
  "audio_input",
  "image_output",
  "audio_output",
  "images",
  "seconds",
  "characters",
  "searches",
] as const;
type CounterName = (typeof COUNTERS)[number];

/** What two places must agree on: nothing and 0 are the same here. */
export interface Amounts {
  calls: number;
  failures: number;
  cost_nano_usd: number;
  usage: Record<CounterName, number>;
}

/** One receipt, wherever it was read. */
export interface CountedReceipt extends Amounts {
  id: string;
  createdAtMs: number;
  names: Readonly<Record<"model" | "key" | "provider" | "project" | "dialect" | "outcome", string>>;
  tags: readonly string[];
  /** Empty if it has none. */
  endUser: string;
}

type Groups = ReadonlyMap<string, Amounts>;

export const groupName = (groups: readonly string[]): string => groups.join(" | ");

/** Every dimension, and every two of them. */
export const QUESTIONS: readonly (readonly UsageDimension[])[] = USAGE_DIMENSIONS.flatMap((one, index) => [
  [one],
  ...USAGE_DIMENSIONS.slice(index + 1).map((other) => [one, other] as const),
]);

export const usageOf = (given: Readonly<Record<string, unknown>>): Amounts["usage"] =>
  Object.fromEntries(COUNTERS.map((counter) => [counter, Number(given[counter] ?? 0)])) as Amounts["usage"];

const nothing = (): Amounts => ({ calls: 0, failures: 0, cost_nano_usd: 0, usage: usageOf({}) });

export function sumOfAll(parts: Iterable<Amounts>): Amounts {
  const sum = nothing();
  for (const part of parts) addTo(sum, part);
  return sum;
}

function addTo(sum: Amounts, { calls, failures, cost_nano_usd, usage }: Amounts): void {
  sum.calls += calls;
  sum.failures += failures;
  sum.cost_nano_usd += cost_nano_usd;
  for (const counter of COUNTERS) sum.usage[counter] += usage[counter];
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The local date, as the runtime has it. */
function dateIn(zone: string, ms: number): string {
  const format = formats.get(zone) ?? new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short" });
  formats.set(zone, format);
  return format.format(ms);
}

function namesOf(receipt: CountedReceipt, dimension: UsageDimension, zone: string): readonly string[] {
  if (dimension === "tag") return receipt.tags;
  if (dimension === "end_user") return receipt.endUser === "" ? [] : [receipt.endUser];
  if (dimension === "day") return [dateIn(zone, receipt.createdAtMs)];
  if (dimension === "hour") return [`${new Date(receipt.createdAtMs).toISOString().slice(0, 13)}:00Z`];
  return [receipt.names[dimension]];
}

/** The receipts added up one by one. */
export function groupReceipts(
  receipts: readonly CountedReceipt[],
  [first, second]: readonly UsageDimension[],
  zone: string,
): Groups {
  const groups = new Map<string, Amounts>();
  for (const receipt of receipts) {
    for (const one of first === undefined ? [] : namesOf(receipt, first, zone)) {
      for (const other of second === undefined ? [undefined] : namesOf(receipt, second, zone)) {
        const name = groupName(other === undefined ? [one] : [one, other]);
        const sum = groups.get(name) ?? nothing();
        addTo(sum, receipt);
        groups.set(name, sum);
      }
    }
  }
  return groups;
}

/** In a canonical order, for comparison. */
export const sorted = (groups: Groups): [string, Amounts][] =>
  [...groups].sort(([one], [other]) => (one < other ? -1 : 1));

const FINE = ["ok", "client_gone"];

/** From names as exports and the API have them. */
export function countReceipt(
  row: Readonly<Record<string, unknown>>,
  usage: object,
  tags: readonly string[],
): CountedReceipt {
  const text = (name: string) => String(row[name] ?? "");
  const calls = text("adjusts") === "" ? 1 : 0;
  const [model, key, provider, project, outcome] = ["model", "key", "provider", "project", "outcome"].map(text);
  return {
    id: text("id"),
    createdAtMs: Date.parse(text("created_at")),
    names: {
      model: model ?? "",
      key: key ?? "",
      provider: provider ?? "",
      project: project ?? "",
      outcome: outcome ?? "",
      dialect: text("client_dialect"),
    },
    tags,
    endUser: text("end_user"),
    calls,
    failures: FINE.includes(outcome ?? "") ? 0 : calls,
    cost_nano_usd: Number(row["cost_nano_usd"]),
    usage: usageOf(usage as Record<string, unknown>),
  };
}

/** A table as RFC 4180 has it, by the names of its head. */
export function readCsv(text: string): Record<string, string>[] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain = "", end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  const [head = [], ...body] = rows;
  return body.map((cells) => Object.fromEntries(head.map((name, index) => [name, cells[index] ?? ""])));
}
