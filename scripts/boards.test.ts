import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { programsPresent } from "../testing/is-present.ts";

const root = new URL("..", import.meta.url).pathname;
const read = (file: string) => readFileSync(root + file, "utf8");

/** As docs/telemetry.md lists them, which scripts/telemetry-page.test.ts compares with the program. */
const documented = new Map(
  [...read("docs/telemetry.md").matchAll(/^\| `([a-z_]+)` \| (\w+) \|([^|]*)\|/gm)].map(
    ([, name = "", type = "", labels = ""]) => [name, { type, labels: labels.split(",").map((label) => label.trim()) }],
  ),
);
/** Labels that Prometheus or the gateway's workers add. */
const ADDED = ["instance", "job", "worker", "le"];

const NAME = /\b(?:trivium|process)_[a-z_]+\b/g;

function complaintsAbout(expression: string): string[] {
  const complaints: string[] = [];
  const found = expression.match(NAME) ?? [];
  if (found.length === 0) complaints.push(`no metric: ${expression}`);
  for (const name of found) {
    const base = documented.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "");
    const metric = documented.get(base);
    if (metric === undefined) complaints.push(`no metric ${name}`);
    else if (base !== name && metric.type !== "histogram") complaints.push(`${base} is no histogram`);
  }
  const known = new Set([...ADDED, ...found.flatMap((name) => labelsOf(name))]);
  const used = [
    ...[...expression.matchAll(/\{([^}]*)\}/g)].flatMap(([, inside = ""]) =>
      [...inside.matchAll(/([a-z_]+)(?==|!)/g)].map(([, label = ""]) => label),
    ),
    ...[...expression.matchAll(/\b(?:by|without) \(([^)]*)\)/g)].flatMap(([, inside = ""]) => inside.split(", ")),
  ];
  return [
    ...complaints,
    ...used.filter((label) => !known.has(label)).map((label) => `no label ${label}: ${expression}`),
  ];
}

const labelsOf = (name: string): readonly string[] =>
  (documented.get(name) ?? documented.get(name.replace(/_(bucket|sum|count)$/, "")))?.labels ?? [];

interface Panel {
  title: string;
  type: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string }[];
}

describe("observability 5.3: the Grafana board", () => {
  const board = JSON.parse(read("deploy/grafana/trivium.json")) as {
    panels: Panel[];
    templating: { list: { name: string; query: unknown }[] };
  };

  test("every metric and label of every query exists", () => {
    const queries = board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(queries.length).toBeGreaterThan(30);
    expect(queries.flatMap(complaintsAbout)).toEqual([]);
  });

  test("panels do not overlap, and each has a unique title", () => {
    const cells = board.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(new Set(board.panels.map(({ title }) => title)).size).toBe(board.panels.length);
  });

  test("its variables are those that its queries use", () => {
    const used = new Set(
      JSON.stringify(board.panels)
        .match(/\$\{?(project|model|provider|datasource)\b/g)
        ?.map((one) => one.replace(/\W/g, "")),
    );
    expect([...used].sort()).toEqual(board.templating.list.map(({ name }) => name).sort());
  });
});

describe("observability 5.4: the alerts", () => {
  const file = "deploy/prometheus/trivium.rules.yaml";
  const { groups } = parse(read(file)) as {
    groups: {
      rules: { alert: string; expr: string; labels: { severity: string }; annotations: { summary: string } }[];
    }[];
  };
  const rules = groups.flatMap((group) => group.rules);

  test("every metric and label exists; each has a severity and says what is wrong", () => {
    expect(rules.flatMap(({ expr }) => complaintsAbout(expr))).toEqual([]);
    for (const { labels, annotations } of rules) {
      expect(["page", "ticket"]).toContain(labels.severity);
      expect(annotations.summary).not.toBe("");
    }
  });

  test("a metric that does not exist would be found", () => {
    expect(complaintsAbout("sum by (nothing) (trivium_things_total)")).toEqual([
      "no metric trivium_things_total",
      "no label nothing: sum by (nothing) (trivium_things_total)",
    ]);
  });

  const canTest = programsPresent("promtool check rules, promtool test rules", "promtool");

  test.skipIf(!canTest)("promtool takes the rules, and they fire when they should", () => {
    for (const args of [
      ["check", "rules", file],
      ["test", "rules", file.replace(".yaml", ".test.yaml")],
    ]) {
      const { exitCode, stdout, stderr } = Bun.spawnSync(["promtool", ...args], { cwd: root });
      expect([exitCode, exitCode === 0 ? "" : `${stdout}${stderr}`]).toEqual([0, ""]);
    }
  });
});
