import { Type } from "../../base/type.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import { isVisible, type Owned } from "../../canon/ownership.ts";
import { VERSION } from "../../dialects/genai/endpoints.ts";
import { normaliseGenaiRequest } from "../../dialects/genai/normalise.ts";
import type { Cache } from "../../objects/caches.ts";
import { objectId } from "../../objects/object-id.ts";
import { answerHeaders } from "../../relay/answer/answer-headers.ts";
import { identifiedResponse } from "../../relay/answer/identity-headers.ts";
import { createCache } from "../../relay/caches/create-cache.ts";
import { endCache } from "../../relay/caches/end-cache.ts";
import { extendCache } from "../../relay/caches/extend-cache.ts";
import { readSmallBody } from "../../relay/request/read-body.ts";
import { CacheLifetime, CacheRequest, checkCacheLifetime, readTtl } from "../../services/cache/schema.ts";
import { incomingRequest } from "../incoming-request.ts";
import { json } from "../openapi/operation.ts";
import { IMAGE_HEADERS } from "../openapi/parameters.ts";
import type { RoutedRequest } from "../routed-request.ts";
import type { ClientEndpoint, EndpointPath } from "./client-endpoint.ts";
import { readLimit } from "./file-forms.ts";
import { withCaller } from "./with-caller.ts";

/** Below any version, and below a cloud project, which some clients add. */
const paths = (rest: string, documented: string): EndpointPath[] => [
  {
    door: "dropin",
    path: new RegExp(`^${VERSION}cachedContents${rest}$`),
    documented: [{ path: `/v1beta/cachedContents${documented}`, suffix: "" }],
  },
];
const collection = paths("", "");
const one = paths("/(?<id>[^/:]+)", "/{id}");

const CacheAnswer = Type.Object(
  {
    name: Type.String({ pattern: "^cachedContents/" }),
    model: Type.String(),
    displayName: Type.Optional(Type.String()),
    createTime: Type.String({ format: "date-time" }),
    updateTime: Type.String({ format: "date-time" }),
    expireTime: Type.String({ format: "date-time" }),
    usageMetadata: Type.Record(Type.String(), Type.Number()),
  },
  { title: "CachedContent" },
);

export const createCachedContent: ClientEndpoint = {
  method: "POST",
  paths: collection,
  id: "createCachedContent",
  summary: "Store content at the provider of a model, for requests that name it",
  dialect: "genai",
  parameters: IMAGE_HEADERS,
  request: CacheRequest,
  answers: [json(CacheAnswer, "The cache, without its content.")],
  handle: async (routed, { gateway }) => {
    const { cache, call } = await createCache(incomingRequest(routed), gateway);
    const answered = JSON.stringify(encode(cache));
    call.capture?.answered(answered);
    return identifiedResponse(answered, answerHeaders(call, "application/json"));
  },
};

export const listCachedContents: ClientEndpoint = {
  method: "GET",
  paths: collection,
  id: "listCachedContents",
  summary: "List caches, newest first",
  dialect: "genai",
  answers: [
    json(
      Type.Object({ cachedContents: Type.Array(CacheAnswer), nextPageToken: Type.Optional(Type.String()) }),
      "A page of the caches that this key may use.",
    ),
  ],
  handle: withCaller(async (principal, { query }, { gateway }) => {
    const limit = readLimit(query.get("pageSize"), "pageSize", { most: 1000, unsaid: 50 });
    const { caches, hasMore } = await gateway.caches.list(principal, {
      after: query.get("pageToken") ?? undefined,
      limit,
    });
    const last = caches.at(-1);
    const nextPageToken = hasMore && last !== undefined ? nameOf(last) : undefined;
    return Response.json(withoutAbsent({ cachedContents: caches.map(encode), nextPageToken }));
  }),
};

export const getCachedContent: ClientEndpoint = {
  method: "GET",
  paths: one,
  id: "getCachedContent",
  summary: "Show a cache, without its content",
  dialect: "genai",
  parameters: ["cache-id"],
  answers: [json(CacheAnswer, "The cache.")],
  handle: withCaller(async (principal, routed, { gateway }) => {
    const cache = await gateway.caches.find(principal, idOf(routed));
    if (cache === undefined) throw noSuchCache(routed);
    return Response.json(encode(cache));
  }),
};

export const updateCachedContent: ClientEndpoint = {
  method: "PATCH",
  paths: one,
  id: "updateCachedContent",
  summary: "Set until when a cache is stored; this key pays for it from now on",
  dialect: "genai",
  parameters: ["cache-id"],
  request: CacheLifetime,
  answers: [json(CacheAnswer, "The cache.")],
  handle: withCaller(async (principal, routed, { gateway }) => {
    const { request, requestId } = routed;
    const body = await readSmallBody(request, gateway.snapshot.maxBodyBytes, principal, gateway);
    const lifetime = checkCacheLifetime(normaliseGenaiRequest(body), LIFETIME);
    const cache = await gateway.caches.find(principal, idOf(routed));
    if (cache === undefined) throw noSuchCache(routed);
    const ttlMs = readTtl({ ...lifetime }, gateway.clock.wallMs(), "required");
    const extended = await extendCache(cache, ttlMs, { principal, requestId }, gateway);
    if (extended === undefined) throw noSuchCache(routed);
    return Response.json(encode(extended));
  }),
};

const LIFETIME = { door: "dropin" as const, model: { id: "", reasoning: false } };

export const deleteCachedContent: ClientEndpoint = {
  method: "DELETE",
  paths: one,
  id: "deleteCachedContent",
  summary: "Delete a cache at its provider",
  dialect: "genai",
  parameters: ["cache-id"],
  answers: [json(Type.Object({}), "It is deleted.")],
  handle: withCaller(async (principal, routed, { gateway }) => {
    const cache = await gateway.caches.owner(idOf(routed));
    // A key may delete what its child keys have stored, without seeing it.
    const may = (owned: Owned) =>
      isVisible(owned, principal) || gateway.keys.makerOf(owned.keyId ?? "")?.keyId === principal.keyId;
    if (cache === undefined || !may(cache) || !(await endCache(cache, gateway, routed.requestId)))
      throw noSuchCache(routed);
    return Response.json({});
  }),
};

const idOf = ({ parameters }: RoutedRequest): string => `cachedContents/${parameters["id"] ?? ""}`;
const nameOf = ({ id }: Cache): string => objectId("cache", "genai", id);
const time = (ms: number): string => new Date(ms).toISOString();

const encode = (cache: Cache): object => {
  const { modelAsNamed, name, updatedAtMs, tokens, counts = { totalTokenCount: tokens } } = cache.terms;
  return withoutAbsent({
    name: nameOf(cache),
    model: modelAsNamed,
    displayName: name,
    createTime: time(cache.createdAtMs),
    updateTime: time(updatedAtMs),
    expireTime: time(cache.expiresAtMs),
    usageMetadata: counts,
  });
};

const noSuchCache = (routed: RoutedRequest): GatewayError =>
  new GatewayError(
    "not_found",
    `There is no cache ${JSON.stringify(idOf(routed).slice(0, 100))}, or this key may not use it.`,
    { code: "cache_not_found" },
  );
