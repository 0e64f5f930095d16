import { isObject } from "../base/json.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { GatewayError } from "../canon/error.ts";
import { type Requirements, readRequirements, requirementsView } from "../canon/offer-traits.ts";
import {
  FACTORS,
  NO_PREFERENCE,
  type Preference,
  ROUTING_TYPES,
  readFallback,
  writeFallback,
} from "../canon/preference.ts";
import type { RoutingSettings } from "../canon/routing-settings.ts";

/** The routing settings of a key, as files, the API and the command line spell them. */
export interface KeyRoutingView {
  type?: string;
  primary_factor?: string;
  fallback?: string;
  survive?: boolean;
  hedge?: boolean;
  deadline_ms?: number;
  max_attempts?: number;
  sticky?: "prompt_cache" | "off";
  require?: Record<string, string>;
}

const MAX_DEADLINE_MS = 86_400_000;
const MAX_ATTEMPTS = 100;
const STICKY = ["prompt_cache", "off"];

interface Member {
  /** Finishes the sentence "routing.<name> must be …". */
  right: string;
  fits: (value: unknown) => boolean;
}

const oneOf = (words: readonly string[]): Member => ({
  right: `one of ${words.join(", ")}`,
  fits: (value) => typeof value === "string" && words.includes(value),
});
const whole = (most: number): Member => ({
  right: `a whole number from 1 to ${most}`,
  fits: (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most,
});
const FLAG: Member = { right: "true or false", fits: (value) => typeof value === "boolean" };

const MEMBERS: Readonly<Record<keyof KeyRoutingView, Member>> = {
  type: oneOf(ROUTING_TYPES),
  primary_factor: oneOf(FACTORS),
  fallback: {
    right: "true, false, the name of a provider or the id of a model",
    fits: (value) => typeof value === "boolean" || (typeof value === "string" && value !== "" && value.length <= 200),
  },
  survive: FLAG,
  hedge: FLAG,
  deadline_ms: whole(MAX_DEADLINE_MS),
  max_attempts: whole(MAX_ATTEMPTS),
  sticky: oneOf(STICKY),
  // Its members are checked where they are read.
  require: { right: 'an object such as {"retention": "zero"}', fits: isObject },
};

export const KEY_ROUTING_NAMES = Object.keys(MEMBERS) as (keyof KeyRoutingView)[];

/** Reads settings from storage or input; throws on unknown or invalid ones. */
export function readKeyRouting(given: Readonly<Record<string, unknown>>): RoutingSettings {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(MEMBERS, name))
      refuse(name, `is not a setting; expected one of ${KEY_ROUTING_NAMES.join(", ")}`);
    const { right, fits } = MEMBERS[name as keyof KeyRoutingView];
    if (!fits(value)) refuse(name, `must be ${right}`);
  }
  const { type, primary_factor, fallback, sticky, survive, hedge, deadline_ms, max_attempts, require } = given as Omit<
    KeyRoutingView,
    "fallback"
  > & { fallback?: string | boolean };
  const preference: Preference = {
    type: type as Preference["type"],
    primaryFactor: primary_factor as Preference["primaryFactor"],
    fallback: fallback === undefined ? undefined : readFallback(fallback),
    sticky: sticky === undefined ? undefined : sticky === "prompt_cache",
  };
  const nothing = Object.values(preference).every((member) => member === undefined);
  return {
    preference: nothing ? NO_PREFERENCE : preference,
    survive,
    hedge,
    deadlineMs: deadline_ms,
    maxAttempts: max_attempts,
    require: require === undefined ? undefined : requirementsOf(require),
  };
}

/** An empty object requires nothing. */
function requirementsOf(given: unknown): Requirements | undefined {
  const required = readRequirements(given, (name, why) => refuse(name === "" ? "require" : `require.${name}`, why));
  return required.length === 0 ? undefined : required;
}

/** The reverse of `readKeyRouting`. */
export function keyRoutingView({
  preference: { type, primaryFactor, fallback, sticky },
  survive,
  hedge,
  deadlineMs,
  maxAttempts,
  require,
}: RoutingSettings): KeyRoutingView {
  return withoutAbsent({
    type,
    primary_factor: primaryFactor,
    fallback: fallback === undefined ? undefined : writeFallback(fallback),
    survive,
    hedge,
    deadline_ms: deadlineMs,
    max_attempts: maxAttempts,
    sticky: sticky === undefined ? undefined : sticky ? ("prompt_cache" as const) : ("off" as const),
    require: require && requirementsView(require),
  });
}

/** Settings that are not named stay; `null` removes one. Undefined if none is left. */
export function changeKeyRouting(
  stored: Readonly<Record<string, unknown>> = {},
  update: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> | undefined {
  const removed = Object.keys(update).filter((name) => update[name] === null);
  const unknown = removed.find((name) => !KEY_ROUTING_NAMES.some((known) => known === name));
  if (unknown !== undefined) readKeyRouting({ [unknown]: true });
  const given = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== null));
  const merged = { ...stored, ...keyRoutingView(readKeyRouting(given)) };
  const kept = Object.fromEntries(Object.entries(merged).filter(([name]) => !removed.includes(name)));
  return Object.keys(kept).length === 0 ? undefined : kept;
}

function refuse(name: string, why: string): never {
  throw new GatewayError("invalid_request", `routing.${name} ${why}.`, { path: `routing.${name}` });
}
