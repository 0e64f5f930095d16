import type { PartLimitsChange } from "../access/parts/part-limits.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { UsageError } from "./command.ts";
import { KEY_FLAGS } from "./key-flags.ts";

const FLAG = { type: "string", multiple: true, default: [] as string[] } as const;
const NAMES = "any limit except sessions";

/** Limits of parts of the calls of a key or a project. */
export const PART_FLAGS = {
  "end-user-limit": { ...FLAG, value: "NAME=NUMBER", about: `limit for each end user: ${NAMES}` },
  "model-limit": {
    ...FLAG,
    value: "MODELS:NAME=NUMBER",
    about: 'limit for models, such as "openai/gpt-*:requests_per_day=500"',
  },
  "tag-limit": { ...FLAG, value: "TAG:NAME=NUMBER", about: 'limit for a tag, such as "team:a:budget_usd_per_week=20"' },
  "require-end-user": { type: "boolean", about: "reject requests that do not name their end user" },
  "no-require-end-user": { type: "boolean", about: "accept requests that do not name their end user" },
} as const;

type Values = {
  readonly [Name in "end-user-limit" | "model-limit" | "tag-limit"]: readonly string[];
} & { readonly [Name in "require-end-user" | "no-require-end-user"]?: boolean | undefined };

type Changes = Record<string, number | null>;

/** `NAME=none` removes a limit. Undefined if no flag is given. */
export function readPartFlags(values: Values): PartLimitsChange | undefined {
  const { "require-end-user": isRequired, "no-require-end-user": isOptional } = values;
  if (isRequired && isOptional)
    throw new UsageError("--require-end-user and --no-require-end-user cannot be combined.");
  const required = isRequired ? true : isOptional ? false : undefined;
  const ofUsers = values["end-user-limit"].map((flag) => readFlag("--end-user-limit", flag, flag));
  const limits = ofUsers.length === 0 ? undefined : Object.fromEntries(ofUsers);
  const change = withoutAbsent({
    end_users: limits === undefined && required === undefined ? undefined : withoutAbsent({ limits, required }),
    limits_by_model: readPatterns("--model-limit", values["model-limit"]),
    limits_by_tag: readPatterns("--tag-limit", values["tag-limit"]),
  });
  return Object.keys(change).length === 0 ? undefined : change;
}

function readPatterns(option: string, flags: readonly string[]): Record<string, Changes> | undefined {
  if (flags.length === 0) return undefined;
  const patterns: Record<string, Changes> = {};
  for (const flag of flags) {
    // Model ids and tags may contain colons: the limit is behind the last one.
    const at = flag.lastIndexOf(":");
    if (at <= 0) throw wrongForm(option, flag);
    const [name, value] = readFlag(option, flag.slice(at + 1), flag);
    patterns[flag.slice(0, at)] = { ...patterns[flag.slice(0, at)], [name]: value };
  }
  return patterns;
}

function readFlag(option: string, text: string, flag: string): [name: string, value: number | null] {
  const { name, value } = /^(?<name>\w+)=(?<value>\S+)$/.exec(text)?.groups ?? {};
  if (name === undefined || value === undefined) throw wrongForm(option, flag);
  if (value === "none") return [name, null];
  if (Number.isNaN(Number(value))) throw wrongForm(option, flag);
  return [name, Number(value)];
}

function wrongForm(option: string, flag: string): UsageError {
  const { value } = PART_FLAGS[option.slice(2) as "model-limit"];
  return new UsageError(`${option}: "${flag}" does not have the form ${value}. Limits: ${KEY_FLAGS.limit.about}.`);
}
