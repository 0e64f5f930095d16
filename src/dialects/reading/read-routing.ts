import { isDeepStrictEqual } from "node:util";
import { type JsonObject, parseObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { describeRequirements, type Requirements, readRequirements } from "../../canon/offer-traits.ts";
import {
  type AutoChoice,
  type Factor,
  NO_PREFERENCE,
  type Preference,
  type RoutingType,
  readFallback,
} from "../../canon/preference.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { AskedRouting } from "../../canon/routing-settings.ts";
import { type CheckContext, defineCheck, refuse } from "./check.ts";
import { describeValue } from "./describe-value.ts";
import { pathTo } from "./explain-mismatch.ts";
import { CallOptions, MAX_DEADLINE_MS, ModelRouting, ProviderRouting, RoutingBody } from "./routing-schema.ts";

/** Accepts the same fields as the body, for clients that cannot add fields (choices 6, 8). */
const ROUTING_HEADER = "x-trivium-routing";
const SURVIVE_HEADER = "x-trivium-survive";
const HEDGE_HEADER = "x-trivium-hedge";
const DEADLINE_HEADER = "x-trivium-deadline-ms";
const REQUIRE_HEADER = "x-trivium-require";

/** The routing that a call requests, and where it does so. */
export interface RoutingRequest {
  readonly asked: AskedRouting;
  /** The paths of its members in the request, for errors and notes. */
  readonly paths: RoutingPaths;
  readonly notes: readonly FieldNote[];
}

export interface RoutingPaths {
  readonly providers: string;
  readonly fallback: string;
  readonly auto: string;
  readonly survive: string;
  readonly hedge: string;
  readonly deadline: string;
}

/**
 * The routing that a call requests in its body and headers; undefined if it requests none, as almost all calls do. Throws if it
 * is malformed, or if body and headers contradict each other.
 */
export function readRouting(body: JsonObject, headers: Headers): RoutingRequest | undefined {
  const said =
    "provider" in body ||
    "model_routing_config" in body ||
    "trivium" in body ||
    headers.has(ROUTING_HEADER) ||
    headers.has(SURVIVE_HEADER) ||
    headers.has(HEDGE_HEADER) ||
    headers.has(DEADLINE_HEADER) ||
    headers.has(REQUIRE_HEADER);
  return said ? read(body, headers) : undefined;
}

const ANYWHERE: CheckContext = { door: "dropin", model: { id: "", reasoning: false } };
const check = defineCheck(RoutingBody, { relations: () => undefined });

function read(body: JsonObject, headers: Headers): RoutingRequest {
  const { provider, model_routing_config, trivium } = body;
  const inBody = checked({ provider, model_routing_config, trivium });
  const inHeader = routingHeader(headers);
  const notes: FieldNote[] = [];
  const preference = choose(inBody.provider, inHeader.provider, "provider");
  const auto = choose(inBody.model_routing_config, inHeader.model_routing_config, "model_routing_config");
  const options = callOptions(inBody.trivium, headers);
  const wanted = preference && readProvider(preference.value, preference.path, notes);
  return {
    asked: {
      preference: wanted?.preference ?? NO_PREFERENCE,
      ...(auto === undefined ? {} : { auto: readAuto(auto.value, auto.path, notes) }),
      ...options.asked,
    },
    paths: {
      providers: wanted?.paths.providers ?? "provider.providers",
      fallback: wanted?.paths.fallback ?? "provider.fallback",
      auto: auto?.path ?? "model_routing_config",
      ...options.paths,
    },
    notes,
  };
}

/** Without nulls, which mean "not given". */
function checked(fields: JsonObject): RoutingBody {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
  return check(given, ANYWHERE);
}

const HEADER_FORM = `${ROUTING_HEADER} must be JSON such as {"provider": {"type": "round_robin"}}`;
const HEADER_FIELDS = ["provider", "model_routing_config"];

function routingHeader(headers: Headers): RoutingBody {
  const text = headers.get(ROUTING_HEADER);
  if (text === null) return {};
  const value = text.trimStart().startsWith("{") ? parseObject(text) : undefined;
  if (value === undefined) throw refusal(ROUTING_HEADER, `${HEADER_FORM}; it is ${describeValue(text)}.`);
  const other = Object.keys(value).find((name) => !HEADER_FIELDS.includes(name));
  if (other !== undefined) {
    throw refusal(
      ROUTING_HEADER,
      `${ROUTING_HEADER} has an unknown member ${describeValue(other)}; use ${HEADER_FIELDS.join(" or ")}.`,
    );
  }
  try {
    return checked(value);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    throw refusal(ROUTING_HEADER, `${ROUTING_HEADER}: ${thrown.message}`);
  }
}

const refusal = (path: string, message: string) => new GatewayError("invalid_request", message, { path });

/** A value and its path in the client's request. */
interface Said<T> {
  value: T;
  path: string;
}

/** A value that is given once, or twice and equal. */
function choose<T>(inBody: T | undefined, inHeader: T | undefined, path: string): Said<T> | undefined {
  if (inHeader === undefined) return inBody === undefined ? undefined : { value: inBody, path };
  if (inBody !== undefined && !isDeepStrictEqual(inBody, inHeader)) throw contradiction(path, ROUTING_HEADER);
  return { value: inHeader, path: `${ROUTING_HEADER}: ${path}` };
}

function contradiction(path: string, header: string): GatewayError {
  const message = `${path} in the body and the ${header} header differ. Send only one of them, or the same value in both.`;
  return refusal(path, message);
}

const OPTION_NAMES = Object.keys(CallOptions.properties);

function callOptions(inBody: CallOptions | undefined, headers: Headers) {
  const other = Object.keys(inBody ?? {}).find((name) => !OPTION_NAMES.includes(name));
  if (other !== undefined) refuse(pathTo("trivium", other), `is not an option; use one of ${OPTION_NAMES.join(", ")}`);
  const survive = agreed(inBody?.survive, flag(headers, SURVIVE_HEADER), "trivium.survive", SURVIVE_HEADER);
  const hedge = agreed(inBody?.hedge, flag(headers, HEDGE_HEADER), "trivium.hedge", HEDGE_HEADER);
  const deadlineMs = agreed(inBody?.deadline_ms, deadline(headers), "trivium.deadline_ms", DEADLINE_HEADER);
  return {
    asked: {
      survive: survive?.value,
      hedge: hedge?.value,
      deadlineMs: deadlineMs?.value,
      require: requirements(inBody?.require, headers),
    },
    paths: {
      survive: survive?.path ?? SURVIVE_HEADER,
      hedge: hedge?.path ?? HEDGE_HEADER,
      deadline: deadlineMs?.path ?? DEADLINE_HEADER,
    },
  };
}

function agreed<T>(inBody: T | undefined, inHeader: T | undefined, path: string, header: string): Said<T> | undefined {
  if (inHeader === undefined) return inBody === undefined ? undefined : { value: inBody, path };
  if (inBody !== undefined && inBody !== inHeader) throw contradiction(path, header);
  return { value: inHeader, path: header };
}

const REQUIRE_FORM = `${REQUIRE_HEADER} must list traits of offers, such as "retention=zero, region=eu"`;

/** The traits that a call requires in its body or in a header. In both, they must be the same. */
function requirements(inBody: unknown, headers: Headers): Requirements | undefined {
  const own =
    inBody === undefined
      ? undefined
      : readRequirements(inBody, (name, why) => refuse(pathTo("trivium.require", name), why));
  const text = headers.get(REQUIRE_HEADER);
  if (text === null) return own?.length === 0 ? undefined : own;
  const members = text.split(",").map((member) => member.split("=").map((part) => part.trim()));
  if (members.some((member) => member.length !== 2))
    throw refusal(REQUIRE_HEADER, `${REQUIRE_FORM}; it is ${describeValue(text)}.`);
  const listed = readRequirements(Object.fromEntries(members), (name, why) => {
    throw refusal(REQUIRE_HEADER, `${REQUIRE_HEADER}: ${name} ${why}.`);
  });
  if (listed.length !== members.length) throw refusal(REQUIRE_HEADER, `${REQUIRE_HEADER} names a trait twice.`);
  if (own !== undefined && describeRequirements(own) !== describeRequirements(listed))
    throw contradiction("trivium.require", REQUIRE_HEADER);
  return listed;
}

function flag(headers: Headers, name: string): boolean | undefined {
  const text = headers.get(name);
  if (text === null) return undefined;
  const word = text.trim().toLowerCase();
  if (word !== "true" && word !== "false")
    throw refusal(name, `${name} must be true or false; it is ${describeValue(text)}.`);
  return word === "true";
}

function deadline(headers: Headers): number | undefined {
  const text = headers.get(DEADLINE_HEADER);
  if (text === null) return undefined;
  const ms = /^\s*\d{1,8}\s*$/.test(text) ? Number(text) : 0;
  if (ms >= 1 && ms <= MAX_DEADLINE_MS) return ms;
  const right = `an integer number of milliseconds from 1 to ${MAX_DEADLINE_MS}`;
  throw refusal(DEADLINE_HEADER, `${DEADLINE_HEADER} must be ${right}; it is ${describeValue(text)}.`);
}

/** The meaning of each type, including synonyms. */
const TYPES: Readonly<Record<NonNullable<ProviderRouting["type"]>, { type: RoutingType; factor?: Factor }>> = {
  priority: { type: "priority" },
  round_robin: { type: "round_robin" },
  least_latency: { type: "least_latency" },
  order: { type: "priority" },
  latency: { type: "least_latency" },
  price: { type: "priority", factor: "cost" },
  throughput: { type: "priority", factor: "speed" },
};

/** The meaning of each factor. Latency maps to a type, which implies nothing else. */
const FACTORS: Readonly<
  Record<NonNullable<ProviderRouting["primary_factor"]>, { factor: Factor; type?: RoutingType }>
> = {
  cost: { factor: "cost" },
  speed: { factor: "speed" },
  quality: { factor: "quality" },
  price: { factor: "cost" },
  throughput: { factor: "speed" },
  latency: { factor: "speed", type: "least_latency" },
};

type Members = Omit<ProviderRouting, "routing">;

/** Reads the object itself, or the same nested as `routing`. Values in both must be equal. */
function readProvider({ routing, ...own }: ProviderRouting, path: string, notes: FieldNote[]) {
  const said: Said<Members>[] = [{ value: own, path }];
  if (routing !== undefined) said.push({ value: routing, path: `${path}.routing` });
  for (const one of said) noteUnknown(one.value, MEMBER_NAMES, one.path, notes);
  const type = member(said, "type", ({ type }) => type && TYPES[type])?.value;
  const factor = member(
    said,
    "primary_factor",
    ({ primary_factor }) => primary_factor && FACTORS[primary_factor],
  )?.value;
  const fallback = member(said, "fallback", ({ fallback }) => fallback);
  const listed = member(said, "providers", ({ providers }) => named(providers));
  const ordered = member(said, "order", ({ order }) => named(order));
  if (listed && ordered) refuseOther(listed, ordered);
  const providers = listed ?? ordered;
  const preference: Preference = {
    // A round robin takes turns however fast an offer is.
    type: type?.type === "round_robin" ? type.type : (factor?.type ?? type?.type),
    primaryFactor: factor?.factor ?? type?.factor,
    providers: providers?.value,
    fallback: fallback === undefined ? undefined : readFallback(fallback.value),
  };
  const nothing = Object.values(preference).every((one) => one === undefined);
  return {
    preference: nothing ? NO_PREFERENCE : preference,
    paths: { providers: providers?.path, fallback: fallback?.path },
  };
}

const MEMBER_NAMES = Object.keys(ProviderRouting.properties).filter((name) => name !== "routing");

function member<T>(
  said: readonly Said<Members>[],
  name: string,
  read: (members: Members) => T | undefined,
): Said<T> | undefined {
  let found: Said<T> | undefined;
  for (const { value: members, path } of said) {
    const value = read(members);
    if (value === undefined) continue;
    const at = `${path}.${name}`;
    if (found === undefined) found = { value, path: at };
    else refuseOther(found, { value, path: at });
  }
  return found;
}

function refuseOther(one: Said<unknown>, other: Said<unknown>): void {
  if (isDeepStrictEqual(one.value, other.value)) return;
  throw refusal(other.path, `${other.path} and ${one.path} differ. Send only one of them.`);
}

/** An empty list names no provider. */
const named = (providers: readonly string[] | undefined) => (providers?.length === 0 ? undefined : providers);

function readAuto(config: ModelRouting, path: string, notes: FieldNote[]): AutoChoice {
  const { available_models, preference, task_info } = config;
  noteUnknown(config, Object.keys(ModelRouting.properties), path, notes);
  noteUnread(config, path, notes);
  if (task_info !== undefined) {
    noteUnknown(task_info, ["task_type", "complexity", "additional_properties"], `${path}.task_info`, notes);
    noteUnread(task_info, `${path}.task_info`, notes);
  }
  return {
    availableModels: available_models,
    preference,
    taskType: task_info?.task_type,
    complexity: task_info?.complexity,
  };
}

/** Unknown members are not rejected, since other gateways define other members, but they are noted. */
function noteUnknown(given: object, known: readonly string[], path: string, notes: FieldNote[]): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const reason = `not a routing option; the options are ${known.join(", ")}`;
    notes.push({ path: pathTo(path, name), action: "dropped", reason });
  }
}

/** The contract allows additional properties, and defines none. */
function noteUnread(holder: { additional_properties?: object | undefined }, path: string, notes: FieldNote[]): void {
  if (Object.keys(holder.additional_properties ?? {}).length === 0) return;
  notes.push({
    path: `${path}.additional_properties`,
    action: "dropped",
    reason: "no additional properties are supported",
  });
}
