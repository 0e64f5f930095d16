import { type Discount, readDiscountFlag } from "../access/discounts.ts";
import { KEY_SCOPES } from "../access/key-checks.ts";
import { KEY_ROUTING_NAMES } from "../access/key-routing.ts";
import { LIMIT_WIRE_NAMES } from "../access/limits.ts";
import { readTimestamp } from "../base/timestamp.ts";
import { UNPRICED_POLICIES, type UnpricedPolicy } from "../canon/billable.ts";
import { PROTOCOL_NAMES, type ProtocolName } from "../canon/dialect-name.ts";
import { SHARING, type Sharing } from "../canon/ownership.ts";
import { UsageError } from "./command.ts";

/** Flags of the commands that set the permissions of a key. */
export const KEY_FLAGS = {
  models: { type: "string", value: "LIST", about: 'allow only these models, such as "sim/*,openai/*"' },
  protocols: { type: "string", value: "LIST", about: `allow only these protocols, from ${PROTOCOL_NAMES.join(",")}` },
  expires: { type: "string", value: "DATE", about: "expiry date, such as 2027-01-31 (UTC)" },
  limit: {
    type: "string",
    multiple: true,
    default: [] as string[],
    value: "NAME=NUMBER",
    about: `${LIMIT_WIRE_NAMES.join(", ")}`,
  },
  networks: {
    type: "string",
    value: "LIST",
    about: 'allow requests only from these networks, such as "10.0.0.0/8,2001:db8::/32"',
  },
  scopes: { type: "string", value: "LIST", about: `additional permissions: ${KEY_SCOPES.join(",")}` },
  tag: {
    type: "string",
    multiple: true,
    default: [] as string[],
    value: "TAG",
    about: "tag for its calls, such as team-a",
  },
  routing: {
    type: "string",
    multiple: true,
    default: [] as string[],
    value: "NAME=VALUE",
    about: `routing settings for its calls: ${KEY_ROUTING_NAMES.join(", ")}`,
  },
} as const;

/** Access to stored objects. */
export const OBJECTS_FLAG = {
  type: "string",
  value: SHARING.join("|"),
  about: "who can access the objects it stores: all keys of its project, or only the key itself",
} as const;

export function readSharing(word: string): Sharing {
  const known = SHARING.find((one) => one === word);
  if (known === undefined) throw new UsageError(`--objects: "${word}" is not one of ${SHARING.join(", ")}.`);
  return known;
}

/** How requests for something without a known price are handled. */
export const UNPRICED_FLAG = {
  type: "string",
  value: "POLICY",
  about: "how to handle requests for tools and terms without a known price: refuse or mark",
} as const;

export function readUnpriced(word: string): UnpricedPolicy {
  const policy = UNPRICED_POLICIES.find((known) => known === word);
  if (policy === undefined)
    throw new UsageError(`--unpriced: "${word}" is not one of ${UNPRICED_POLICIES.join(", ")}.`);
  return policy;
}

/** The same; `default` removes the setting. */
export const readUnpricedChange = (word: string): UnpricedPolicy | null =>
  word === "default" ? null : readUnpriced(word);

/** Of the commands that change projects. */
export const DISCOUNT_FLAG = {
  type: "string",
  multiple: true,
  default: [] as string[],
  value: "DISCOUNT",
  about: 'discount on the list price: 10%, openai=15%, "anthropic/*=20%"',
} as const;

export const readDiscountFlags = (flags: readonly string[]): Discount[] =>
  flags.length === 1 && flags[0] === "none" ? [] : flags.map(readDiscountFlag);

export function readProtocols(list: string): ProtocolName[] {
  return list.split(",").map((name) => {
    const known = PROTOCOL_NAMES.find((dialect) => dialect === name);
    if (!known) throw new UsageError(`--protocols: "${name}" is not one of ${PROTOCOL_NAMES.join(", ")}.`);
    return known;
  });
}

export function readExpiry(text: string): number {
  const ms = readTimestamp(text);
  if (ms === undefined)
    throw new UsageError(`--expires: "${text}" is not a valid date. Use a date such as 2027-01-31.`);
  return ms;
}

/** `--limit requests_per_minute=600` */
export function readLimitFlags(flags: readonly string[]): Record<string, number> {
  return readNamed(flags, "NAME=NUMBER", readNumber);
}

/** The same; `NAME=none` removes a limit. */
export function readLimitChanges(flags: readonly string[]): Record<string, number | null> {
  return readNamed(flags, "NAME=NUMBER or NAME=none", (text) => (text === "none" ? null : readNumber(text)));
}

/** `--routing type=round_robin` */
export function readRoutingFlags(flags: readonly string[]): Record<string, unknown> {
  return readNamed(flags, "NAME=VALUE", routingValue, "--routing");
}

/** The same; `NAME=none` removes a setting. */
export function readRoutingChanges(flags: readonly string[]): Record<string, unknown> {
  const read = (text: string) => (text === "none" ? null : routingValue(text));
  return readNamed(flags, "NAME=VALUE or NAME=none", read, "--routing");
}

/** A word, a switch or a number. */
function routingValue(text: string): string | boolean | number {
  if (text === "true" || text === "false") return text === "true";
  return /^\d+$/.test(text) ? Number(text) : text;
}

const readNumber = (text: string): number | undefined => (Number.isNaN(Number(text)) ? undefined : Number(text));

function readNamed<Value>(
  flags: readonly string[],
  form: string,
  read: (text: string) => Value | undefined,
  option = "--limit",
): Record<string, Value> {
  const values: Record<string, Value> = {};
  for (const flag of flags) {
    const { name, text } = /^(?<name>\w+)=(?<text>\S+)$/.exec(flag)?.groups ?? {};
    const value = text === undefined ? undefined : read(text);
    if (name === undefined || value === undefined)
      throw new UsageError(`${option}: "${flag}" does not have the form ${form}.`);
    if (Object.hasOwn(values, name)) throw new UsageError(`${option}: ${name} is specified more than once.`);
    values[name] = value;
  }
  return values;
}
