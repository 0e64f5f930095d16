import { afterAll } from "bun:test";

/** What was seen under one fault. */
interface FaultRow {
  fault: string;
  calls: string;
  revocations: string;
  readiness: string;
  shutdown: string;
  /** From the end of the fault, or from its beginning if the gateway recovers during it. */
  recovery: string;
}

const COLUMNS = ["fault", "calls", "revocations", "readiness", "shutdown", "recovery"] as const;

/** Collects the results of a file's tests, and prints them as a table afterwards. */
export function faultTable(): (row: FaultRow) => void {
  const rows: FaultRow[] = [];
  afterAll(() => {
    if (rows.length === 0) return;
    const widths = COLUMNS.map((name) => Math.max(name.length, ...rows.map((row) => row[name].length)));
    const line = (cells: readonly string[]) =>
      `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(" | ")} |`;
    console.log(line(COLUMNS));
    console.log(line(widths.map((width) => "-".repeat(width))));
    for (const row of rows) console.log(line(COLUMNS.map((name) => row[name])));
  });
  return (row) => void rows.push(row);
}

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
