// https://ai.google.dev/api/caching, https://cloud.google.com/vertex-ai/generative-ai/docs/context-cache/context-cache-create

import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { countAt } from "../../canon/usage.ts";
import { namesLostCache } from "../../dialects/genai/answer/errors.ts";
import type { AdapterContext, MediaAnswer } from "../../media/adapter.ts";
import type { CacheAdapter, ProviderCache } from "../../services/cache/cache-adapter.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { googleError } from "./errors.ts";

/** Where a host has its caches, and how it names the model of one. */
export interface CacheHost {
  /** What comes before the name of a cache, such as `/v1beta/`. */
  root: string;
  /** The path of the collection. */
  collection: (settings: AdapterContext["settings"]) => string;
  model: (name: string, settings: AdapterContext["settings"]) => string;
  serves: (model: string) => boolean;
}

const COUNTS = ["audioDurationSeconds", "imageCount", "textCount", "videoDurationSeconds", "totalTokenCount"] as const;
const PAGE_SIZE = 100;

export function googleCaches({ root, collection, model, serves }: CacheHost): CacheAdapter {
  const at = (id: string): string => root + id.split("/").map(encodeURIComponent).join("/");
  return {
    serves,
    // Without its end, nothing would tell the id of the cache.
    goesOn: true,
    create: ({ content, name, ttlMs }, { model: upstreamModel, settings }) => ({
      method: "POST",
      url: collection(settings),
      body: {
        json: {
          model: model(upstreamModel, settings),
          ...content,
          displayName: name,
          ttl: duration(ttlMs),
        },
      },
    }),
    show: (id) => ({ method: "GET", url: at(id) }),
    extend: (id, ttlMs) => ({ method: "PATCH", url: at(id), body: { json: { ttl: duration(ttlMs) } } }),
    remove: (id) => ({ method: "DELETE", url: at(id) }),
    list: (page, { settings }) => ({
      method: "GET",
      url: `${collection(settings)}?${new URLSearchParams({ pageSize: String(PAGE_SIZE), ...(page === undefined ? {} : { pageToken: page }) })}`,
    }),
    read: ({ body }) => {
      const cache = readCache(body);
      if (cache === undefined) throw emptyAnswer("a cache");
      return cache;
    },
    readList: ({ body }) =>
      withoutAbsent({
        caches: arrayAt(body, "cachedContents").flatMap((one) => (isObject(one) ? (readCache(one) ?? []) : [])),
        next: stringAt(body, "nextPageToken") || undefined,
      }),
    isGone: ({ status, text }: MediaAnswer) => status === 404 || (status === 403 && namesLostCache(text)),
    error: googleError,
  };
}

const duration = (ms: number): string => `${(ms / 1000).toFixed(3)}s`;

function readCache(body: JsonObject | undefined): ProviderCache | undefined {
  const id = stringAt(body, "name");
  if (id === undefined || id === "") return undefined;
  const usage = objectAt(body, "usageMetadata");
  const counts = Object.fromEntries(
    COUNTS.flatMap((name) => {
      const count = countAt(usage, name);
      return count === undefined ? [] : [[name, count]];
    }),
  );
  return withoutAbsent({
    id,
    name: stringAt(body, "displayName"),
    tokens: countAt(usage, "totalTokenCount"),
    createdAtMs: timeAt(body, "createTime"),
    counts: Object.keys(counts).length === 0 ? undefined : counts,
  });
}

function timeAt(body: JsonObject | undefined, key: string): number | undefined {
  const ms = Date.parse(stringAt(body, key) ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}
