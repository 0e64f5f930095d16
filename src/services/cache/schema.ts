import type { JsonObject } from "../../base/json.ts";
import { Type } from "../../base/type.ts";
import { Content, SystemInstruction } from "../../dialects/genai/schema/content.ts";
import { Tool, ToolConfig } from "../../dialects/genai/schema/tools.ts";
import { defineCheck, refuse } from "../../dialects/reading/check.ts";
import { ROUTING_FIELDS } from "../../dialects/reading/routing-fields.ts";

const lifetime = {
  ttl: Type.Optional(Type.String({ description: "A duration in seconds, such as `3600s`." })),
  expireTime: Type.Optional(Type.String({ format: "date-time" })),
};

/** What a cache contains, under the names of a request that generates content. */
export const CACHE_CONTENT = ["contents", "systemInstruction", "tools", "toolConfig"] as const;

export const CacheRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, description: "`models/<provider>/<model_name>`." }),
    contents: Type.Optional(Type.Array(Content)),
    systemInstruction: Type.Optional(SystemInstruction),
    tools: Type.Optional(Type.Array(Tool)),
    toolConfig: Type.Optional(ToolConfig),
    displayName: Type.Optional(Type.String({ maxLength: 128 })),
    ...lifetime,
  },
  { title: "CacheRequest" },
);

export const CacheLifetime = Type.Object(lifetime, { title: "CacheLifetime" });

const KNOWN: ReadonlySet<string> = new Set([...Object.keys(CacheRequest.properties), ...ROUTING_FIELDS]);

/** A field that is not sent must not be ignored: it may be a key to encrypt with. */
export const checkCacheRequest = defineCheck(CacheRequest, {
  alsoRead: ROUTING_FIELDS,
  relations: (body) => {
    for (const name of Object.keys(body))
      if (!KNOWN.has(name)) refuse(name, "is not a field of caches that is supported");
    if (CACHE_CONTENT.every((name) => body[name] === undefined))
      refuse("contents", "is missing: a cache needs content");
  },
});

export const checkCacheLifetime = defineCheck(CacheLifetime, { relations: () => {} });

const DEFAULT_TTL_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Storage is billed when it ends, so it ends within the time in which somebody looks at the bill. */
const MAX_DAYS = 30;

/** For how long a cache is wanted, from now on. Throws for a lifetime that is wrong, or missing where it is required. */
export function readTtl(body: JsonObject, nowMs: number, unsaid: "an hour" | "required" = "an hour"): number {
  const { ttl, expireTime } = body;
  if (typeof ttl === "string" && typeof expireTime === "string")
    refuse("expireTime", "cannot be set together with ttl");
  const name = typeof expireTime === "string" ? "expireTime" : "ttl";
  const ttlMs = wanted(ttl, expireTime, nowMs) ?? (unsaid === "an hour" ? DEFAULT_TTL_MS : undefined);
  if (ttlMs === undefined) refuse("ttl", "is missing; set ttl or expireTime");
  if (ttlMs <= 0) refuse(name, "must be in the future");
  if (ttlMs > MAX_DAYS * DAY_MS) refuse(name, `must be at most ${MAX_DAYS} days from now`);
  return ttlMs;
}

function wanted(ttl: unknown, expireTime: unknown, nowMs: number): number | undefined {
  if (typeof ttl === "string") {
    const seconds = /^(\d{1,12}(?:\.\d{1,9})?)s$/.exec(ttl)?.[1];
    if (seconds === undefined) refuse("ttl", 'must be a number of seconds followed by s, such as "3600s"');
    return Number(seconds) * 1000;
  }
  if (typeof expireTime !== "string") return undefined;
  const atMs = Date.parse(expireTime);
  if (Number.isNaN(atMs)) refuse("expireTime", "must be a time such as 2026-01-31T12:00:00Z");
  return atMs - nowMs;
}
