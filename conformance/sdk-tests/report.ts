import type { Ending, Exchange } from "./recorder.ts";

interface Row {
  resource: string;
  requests: number;
  accepted: number;
  refused: number;
  unserved: number;
  bugs: number;
  /** Accepted requests whose response the SDK's own test did not accept. */
  mismatches: number;
}

/** `tests/api_resources/chat/test_completions.py::TestCompletions::test_x` is `chat/completions`. */
function resourceOf(test: string, folders: readonly string[]): string {
  const [file = ""] = test.split("::");
  const folder = folders.find((one) => file.startsWith(`${one}/`)) ?? "";
  const rest = file
    .slice(folder.length + 1)
    .replace(/\.py$/, "")
    .replace(/(^|\/)test_/g, "$1");
  return folders.length === 1 ? rest : `${folder.split("/").at(-1)}/${rest}`;
}

/** A table by resource, the reasons of refusals by count, and every bug. */
export function reportOf(
  folders: readonly string[],
  exchanges: readonly Exchange[],
  endings: readonly Ending[],
  withReasons: boolean,
): { report: string; bugs: number } {
  const failed = new Map(endings.filter(({ outcome }) => outcome === "failed").map(({ test, why }) => [test, why]));
  const rows = new Map<string, Row>();
  const reasons = new Map<string, number>();
  const problems: string[] = [];
  const mismatched = new Map<string, string>();
  for (const exchange of distinct(exchanges)) {
    const { test, verdict, reason, method, path } = exchange;
    const resource = resourceOf(test, folders);
    const row = rows.get(resource) ?? {
      resource,
      requests: 0,
      accepted: 0,
      refused: 0,
      unserved: 0,
      bugs: 0,
      mismatches: 0,
    };
    rows.set(resource, row);
    row.requests++;
    if (verdict === "bug") {
      row.bugs++;
      problems.push(`${method} ${path} (${test}): ${reason}`);
    } else row[verdict]++;
    const why = failed.get(test);
    if (verdict === "accepted" && why !== undefined) {
      row.mismatches++;
      mismatched.set(`${method} ${path}`, `${test}: ${why.replaceAll(/\s+/g, " ").slice(0, 300)}`);
    }
    if (verdict === "refused") reasons.set(`${resource}: ${reason}`, (reasons.get(`${resource}: ${reason}`) ?? 0) + 1);
  }
  const sorted = [...rows.values()].sort((one, other) => one.resource.localeCompare(other.resource));
  const unserved = sorted.filter((row) => row.unserved === row.requests);
  const served = sorted.filter((row) => row.unserved !== row.requests);
  const sum = sumOf(sorted);
  const line = (resource: string, of: (field: Exclude<keyof Row, "resource">) => number) =>
    `| ${resource} | ${of("requests")} | ${of("accepted")} | ${of("refused")} | ${of("unserved")} | ${of("bugs")} | ${of("mismatches")} |`;
  const lines = [
    "| resource | requests | accepted | refused | not served | bugs | response rejected by the SDK's test |",
    "|---|--:|--:|--:|--:|--:|--:|",
    ...served.map((row) => line(row.resource, (field) => row[field])),
    ...(unserved.length === 0 ? [] : [line(`${unserved.length} more, not served`, sumOf(unserved))]),
    line("**all**", sum),
    ...list("Bugs", problems),
    ...list(
      "Accepted, but rejected by the SDK's own test",
      [...mismatched].map(([what, why]) => `${what} (${why})`),
    ),
    ...(withReasons
      ? list(
          "Refused",
          [...reasons].sort(([, one], [, other]) => other - one).map(([reason, count]) => `${count} × ${reason}`),
        )
      : []),
  ];
  return { report: lines.join("\n"), bugs: sum("bugs") };
}

const sumOf = (rows: readonly Row[]) => (field: Exclude<keyof Row, "resource">) =>
  rows.reduce((total, row) => total + row[field], 0);

const list = (title: string, items: readonly string[]): string[] =>
  items.length === 0 ? [] : ["", `${title}:`, ...items.map((item) => `- ${item}`)];

/** A test may repeat a request after a failure. */
function distinct(exchanges: readonly Exchange[]): Exchange[] {
  const seen = new Map<string, Exchange>();
  for (const exchange of exchanges) seen.set(`${exchange.test} ${exchange.method} ${exchange.path}`, exchange);
  return [...seen.values()];
}
