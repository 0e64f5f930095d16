import type { Exchange } from "../../exchange.ts";
import { isObject, type Json, type JsonObject, textOr } from "../../json.ts";
import { names } from "../../names.ts";
import { findModel } from "../../text/find-model.ts";
import { countTokens } from "../../text/tokens.ts";
import { ownerOf, type StoredCache } from "./stored-caches.ts";
import { type GoogleHost, googleError, invalid, invalidValue, modelNotFound } from "./text/errors.ts";
import { refuseUnknown, withCamelNames } from "./text/proto-json.ts";

/** The caches of either host: the collection, or one of it. */
export const CACHES =
  /^\/(?:v1|v1beta|v1beta1)\/(?<scope>projects\/[^/]+\/locations\/[^/]+\/)?cachedContents(?:\/(?<id>[^/]+))?$/;

const FIELDS = names("model contents systemInstruction tools toolConfig displayName ttl expireTime");
const DEFAULT_TTL_MS = 3_600_000;

/** https://ai.google.dev/api/caching */
export function answerCaches(
  exchange: Exchange,
  key: string,
  { scope = "", id }: { scope?: string; id?: string },
  host: GoogleHost,
): Json {
  const { method, state, path } = exchange;
  const owner = ownerOf(path, key);
  if (id === undefined) {
    if (method === "GET") return { cachedContents: state.caches.of(owner).map(entry) };
    if (method === "POST") return create(exchange, owner, scope, host);
    throw googleError(404, "NOT_FOUND", `The requested URL ${path} was not found.`);
  }
  const cache = state.caches.get(`${scope}cachedContents/${id}`, owner);
  if (method === "DELETE") {
    state.caches.remove(cache);
    return {};
  }
  if (method === "PATCH") {
    const body = bodyOf(exchange);
    refuseUnknown(body, names("ttl expireTime"), "cachedContent");
    cache.updatedAtMs = state.caches.nowMs();
    cache.expiresAtMs = expiry(body, cache.updatedAtMs);
  }
  return entry(cache);
}

function create(exchange: Exchange, owner: string, scope: string, host: GoogleHost): Json {
  const body = bodyOf(exchange);
  refuseUnknown(body, FIELDS, "cachedContent");
  const model = textOr(body.model, "");
  const name = model.split("/").at(-1) ?? "";
  if (findModel(name) === undefined) throw modelNotFound(host, name, exchange.path);
  const { contents, systemInstruction, tools } = body;
  if (contents === undefined && systemInstruction === undefined && tools === undefined)
    throw invalid("CachedContent is empty. Please provide contents, system_instruction or tools.");
  exchange.countModel(name);
  const stored = exchange.state.caches.add(
    {
      owner,
      model,
      displayName: typeof body.displayName === "string" ? body.displayName : undefined,
      tokens: countTokens(textsIn([contents ?? [], systemInstruction ?? [], tools ?? []])),
      expiresAtMs: expiry(body, exchange.state.caches.nowMs()),
    },
    scope,
  );
  return entry(stored);
}

function bodyOf({ body }: Exchange): JsonObject {
  const named = withCamelNames(body ?? null);
  if (!isObject(named)) throw invalid("Invalid JSON payload received. The body is not valid JSON.");
  return named;
}

function expiry({ ttl, expireTime }: JsonObject, nowMs: number): number {
  if (typeof expireTime === "string") return Date.parse(expireTime);
  if (ttl === undefined) return nowMs + DEFAULT_TTL_MS;
  const seconds = typeof ttl === "string" ? /^(\d+(?:\.\d{1,9})?)s$/.exec(ttl)?.[1] : undefined;
  if (seconds === undefined)
    throw invalidValue("cachedContent.ttl", "type.googleapis.com/google.protobuf.Duration", ttl);
  return nowMs + Number(seconds) * 1000;
}

/** Every string that a value contains. */
const textsIn = (value: Json): string =>
  typeof value === "string"
    ? value
    : typeof value === "object" && value !== null
      ? Object.values(value).map(textsIn).join(" ")
      : "";

const time = (ms: number): string => new Date(ms).toISOString();

function entry({ name, model, displayName, tokens, createdAtMs, updatedAtMs, expiresAtMs }: StoredCache): JsonObject {
  return {
    name,
    model,
    ...(displayName === undefined ? {} : { displayName }),
    createTime: time(createdAtMs),
    updateTime: time(updatedAtMs),
    expireTime: time(expiresAtMs),
    usageMetadata: { totalTokenCount: tokens },
  };
}
