import { type ParseArgsConfig, parseArgs } from "node:util";

/** Exit codes that scripts can use. */
export const EXIT = { ok: 0, failed: 1, usage: 2, moderated: 3, interrupted: 130 } as const;

export interface Command {
  name: string;
  /** What stands behind the name, such as `create --name NAME`. */
  usage: string;
  summary: string;
  run(args: readonly string[]): Promise<number>;
}

/** A mistake in how a command was called. */
export class UsageError extends Error {}

/** Flags that every command takes. */
const COMMON = {
  config: { type: "string" },
  json: { type: "boolean", default: false },
} as const satisfies ParseArgsConfig["options"];

export function readFlags<const O extends NonNullable<ParseArgsConfig["options"]>>(
  args: readonly string[],
  options: O,
) {
  try {
    return parseArgs({ args: [...args], options: { ...COMMON, ...options }, allowPositionals: true, strict: true });
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

export const printJson = (value: unknown) => console.log(JSON.stringify(value, null, 2));

/** Columns padded to their widest cell; numbers are given as text already. */
export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  console.log(line(header));
  for (const row of rows) console.log(line(row));
}
