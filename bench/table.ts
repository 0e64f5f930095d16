import type { Row } from "./scenario.ts";

const COLUMNS = [
  ["direct", "no proxy"],
  ["bare", "bare Bun"],
  ["gateway", "gateway"],
  ["before", "before"],
  ["limited", "gateway with limits"],
  ["workers", "workers"],
  ["limitedWorkers", "workers with limits"],
  ["exporting", "gateway with OTLP"],
  ["reserialising", "re-serialising Bun"],
  ["nginx", "nginx"],
  ["litellm", "LiteLLM"],
  ["portkey", "Portkey"],
  ["smg", "smg"],
] as const;

/** The rows as text: absolute values, ratios to the bare proxy in brackets, and the bar with its verdict. Who was never measured has no column. */
export function formatTable(rows: readonly Row[]): string {
  const columns = COLUMNS.filter(([name]) => rows.some(({ values }) => values[name] !== undefined));
  const header = ["", ...columns.map(([, title]) => title), "target"];
  const lines = [
    header,
    ...rows.map((row) => [row.measure, ...columns.map(([name]) => cell(row, name)), verdict(row)]),
  ];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function cell({ values, ratios, unit }: Row, name: (typeof COLUMNS)[number][0]): string {
  const value = values[name];
  if (value === undefined) return "";
  const ratio = name === "direct" || name === "bare" ? undefined : ratios[name];
  const digits = Math.abs(value) < 100 ? 2 : 0;
  return `${value.toFixed(digits)} ${unit}${ratio === undefined ? "" : ` (${ratio.toFixed(2)} ×)`}`;
}

function verdict({ target }: Row): string {
  return target ? `${target.text}: ${target.value.toFixed(2)}  ${target.met ? "ok" : "over"}` : "";
}
