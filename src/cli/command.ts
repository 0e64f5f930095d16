import { type ParseArgsConfig, parseArgs } from "node:util";
import { nearestName } from "../config/nearest-name.ts";

/** Exit codes that scripts can use. */
export const EXIT = { ok: 0, failed: 1, usage: 2, moderated: 3, interrupted: 130 } as const;

/** A command's entry in the help. */
export interface CommandAbout {
  name: string;
  /** The usage after the name, such as `[--port PORT]`. */
  usage: string;
  summary: string;
}

/** A command does not know its own name; the list of commands passes it in. */
export interface Command {
  /** What `--help` prints. */
  help(about: CommandAbout): string;
  run(args: readonly string[], about: CommandAbout): Promise<number>;
}

type FlagKinds = NonNullable<ParseArgsConfig["options"]>;
/** `value` names the value in the help; flags without one are switches. */
export type Flags = Readonly<Record<string, FlagKinds[string] & { value?: string; about: string }>>;

/** A mistake in how a command was called. */
export class UsageError extends Error {}

/** Flags that every command takes. */
const COMMON = {
  config: {
    type: "string",
    value: "FILE",
    about: "configuration file (default: $TRIVIUM_CONFIG, else ./trivium.yaml)",
  },
  json: { type: "boolean", default: false, about: "print the output as JSON" },
} as const satisfies Flags;
const HELP = { help: { type: "boolean", short: "h", about: "show this help" } } as const satisfies Flags;

/** The arguments of a command. */
export type Given<F extends Flags> = ReturnType<typeof readFlags<F>>;

export interface Definition<F extends Flags> {
  flags: F;
  /** How many positional arguments it takes; default 0. */
  takes?: number;
  run(given: Given<F>): Promise<number>;
}

/** A command whose flags are declared once, for parsing and for its help. */
export function defineCommand<const F extends Flags>({ flags, takes = 0, run }: Definition<F>): Command {
  // A command may describe a common flag in its own words.
  const help = (about: CommandAbout) => describe(about, { ...flags, ...COMMON, ...flags, ...HELP });
  return {
    help,
    run: async (args, about) => {
      if (!asksForHelp(args)) return run(readFlags(args, flags, takes));
      console.log(help(about));
      return EXIT.ok;
    },
  };
}

export const isHelpFlag = (word: string): boolean => word === "--help" || word === "-h";

/** With `--help`, errors in the other arguments are not reported. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? args.length : end).some(isHelpFlag);
}

function describe({ name, usage, summary }: CommandAbout, flags: Flags): string {
  const rows = flagRows(flags);
  return [usageLine({ name, usage }), "", sentence(summary), "", "Options:", ...columns(rows)].join("\n");
}

/** The options that every command accepts, for the help of a command with subcommands. */
export const commonOptions = (): string[] => columns(flagRows({ ...COMMON, ...HELP }));

function flagRows(flags: Flags): (readonly [words: string, about: string])[] {
  return Object.entries(flags).map(([flag, { short, value, about, multiple, default: unlessGiven }]) => {
    const words = `${short ? `-${short}, ` : "    "}--${flag}${value ? ` ${value}` : ""}`;
    const repeated = multiple ? " (repeatable)" : "";
    return [words, about + repeated + (typeof unlessGiven === "string" ? ` (default: ${unlessGiven})` : "")] as const;
  });
}

/** Rows of the help: what to type, and what it does. */
export function columns(rows: readonly (readonly [words: string, about: string])[]): string[] {
  const width = Math.max(...rows.map(([words]) => words.length));
  return rows.map(([words, about]) => `  ${words.padEnd(width)}  ${about}`);
}

export const sentence = (summary: string): string => `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;

export const usageLine = ({ name, usage }: Pick<CommandAbout, "name" | "usage">): string =>
  `Usage: trivium ${name} ${usage}`.trimEnd();

function readFlags<const F extends Flags>(args: readonly string[], flags: F, takes: number) {
  const given = parse(args, flags);
  const surplus = given.positionals[takes];
  if (surplus !== undefined) {
    const advice = takes === 0 ? "" : " Quote an argument that contains spaces.";
    throw new UsageError(`Unexpected argument "${surplus}".${advice}`);
  }
  return given;
}

function parse<const F extends Flags>(args: readonly string[], flags: F) {
  const options = { ...COMMON, ...flags };
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (cause) {
    throw new UsageError(flagProblem(args, options) ?? (cause instanceof Error ? cause.message : String(cause)), {
      cause,
    });
  }
}

/** Describes the first invalid flag; undefined if the parser found another problem. */
function flagProblem(args: readonly string[], options: Flags): string | undefined {
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const { name, rawName, value, inlineValue } = token;
    const known = options[name];
    if (known === undefined) {
      const names = Object.keys(options);
      const near = names.find((one) => one.startsWith(name)) ?? nearestName(name, names);
      return `Unknown option ${rawName}.${near === undefined ? "" : ` Did you mean --${near}?`}`;
    }
    if (known.type === "boolean" && value !== undefined) return `Option ${rawName} does not take a value.`;
    if (known.type !== "string") continue;
    if (value === undefined) return `Option ${rawName} requires a value: ${rawName} ${known.value ?? "VALUE"}.`;
    if (!inlineValue && value.startsWith("-") && value !== "-")
      return `Option ${rawName} requires a value. If the value is ${value}, write ${rawName}=${value}.`;
  }
  return undefined;
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
