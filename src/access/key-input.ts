import { withoutAbsent } from "../base/without-absent.ts";
import { GatewayError } from "../canon/error.ts";
import { readAnswerCache } from "../canon/settings/answer-cache-settings.ts";
import { readBilling } from "./billing-input.ts";
import { JsonInput } from "./json-input.ts";
import { readKeyRouting } from "./key-routing.ts";
import type { KeyRequest, KeyUpdate } from "./keys.ts";
import { readLimits } from "./limits.ts";
import { PART_FIELDS, readPartChange } from "./parts/part-input.ts";
import { readPartLimits } from "./parts/part-limits.ts";

const BOUNDS = [
  "models",
  "protocols",
  "expires_at",
  "limits",
  "networks",
  "scopes",
  "strict",
  "routing",
  "tags",
  "capture",
  "provider_objects",
  "objects",
  "billing",
  "cache",
  ...PART_FIELDS,
];

const DEFAULT_PROJECT = "default";

/** Reads the JSON description of a new key; `project` is the default project. */
export function readKeyRequest(body: unknown, project = DEFAULT_PROJECT): KeyRequest {
  const input = new JsonInput(body, "a key", ["name", "project", ...BOUNDS]);
  const name = input.text("name");
  if (name === undefined) throw new GatewayError("invalid_request", "`name` is missing.", { path: "name" });
  const limits = input.numbers("limits");
  const routing = input.object("routing");
  const given = Object.entries(limits ?? {}).filter((entry): entry is [string, number] => entry[1] !== null);
  return withoutAbsent({
    name,
    project: input.text("project") ?? project,
    models: input.texts("models"),
    protocols: input.texts("protocols"),
    expiresAtMs: input.time("expires_at"),
    limits: limits === undefined ? undefined : readLimits(Object.fromEntries(given)),
    networks: input.texts("networks"),
    scopes: input.texts("scopes"),
    strict: input.flag("strict"),
    capture: input.flag("capture"),
    providerObjects: input.flag("provider_objects"),
    objects: input.sharing("objects"),
    tags: input.texts("tags"),
    routing: routing === undefined ? undefined : readKeyRouting(routing),
    billing: readBilling(input, false),
    partLimits: readPartLimits(readPartChange(input)),
    answerCache: readAnswerCache(input.object("cache")),
  });
}

/** Reads a change of a key: omitted fields stay, and `null` removes a limit or setting. */
export function readKeyUpdate(body: unknown): KeyUpdate {
  const input = new JsonInput(body, "a key update", ["name", ...BOUNDS]);
  return withoutAbsent({
    name: input.text("name"),
    models: input.isNull("models") ? ["*"] : input.texts("models"),
    protocols: input.isNull("protocols") ? null : input.texts("protocols"),
    expiresAtMs: input.isNull("expires_at") ? null : input.time("expires_at"),
    limits: input.numbers("limits"),
    networks: input.isNull("networks") ? null : input.texts("networks"),
    scopes: input.isNull("scopes") ? [] : input.texts("scopes"),
    strict: input.flag("strict"),
    capture: input.flag("capture"),
    providerObjects: input.flag("provider_objects"),
    objects: input.isNull("objects") ? null : input.sharing("objects"),
    tags: input.isNull("tags") ? [] : input.texts("tags"),
    routing: input.object("routing"),
    billing: readBilling(input, true),
    partLimits: readPartChange(input),
    answerCache: input.isNull("cache") ? null : readAnswerCache(input.object("cache")),
  });
}
