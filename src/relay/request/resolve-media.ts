import type { CanonCall } from "../../canon/call.ts";
import { GatewayError } from "../../canon/error.ts";
import type { MediaKind, MediaPart, MediaSource, Part } from "../../canon/part.ts";
import type { MediaQuirks } from "../../dialects/request/media-quirks.ts";
import { type FetchedMedia, MediaFetchError } from "../../wire/media-fetch.ts";
import { walkMedia } from "./walk-media.ts";

export type FetchMedia = (
  url: string,
  options: { signal: AbortSignal; maxBytes?: number; timeoutMs?: number },
) => Promise<FetchedMedia>;

const MAX_AT_ONCE = 8;
const MAX_URLS = 32;
/** The limit for all media of a call: they are held in memory, and no host accepts a larger request. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Something to fetch, and the first path that names it. */
interface Wanted {
  url: string;
  path: string;
}

/**
 * Fetches the media of a call that its target cannot fetch itself (S12). URLs that are not on the web are left unchanged: files at
 * a provider, and data URLs. So are kinds of media that the target does not support, which its encoder reports.
 */
export async function resolveMedia(call: CanonCall, quirks: MediaQuirks, fetchMedia: FetchMedia): Promise<CanonCall> {
  const wanted = new Map<string, Wanted>();
  for (const { parts, path: turnPath } of call.turns) {
    visitMedia(parts, turnPath, (part, path) => {
      const url = urlToFetch(part, quirks);
      if (url !== undefined && !wanted.has(url)) wanted.set(url, { url, path });
    });
  }
  if (wanted.size === 0) return call;
  if (wanted.size > MAX_URLS)
    throw new GatewayError(
      "invalid_request",
      `The request contains ${wanted.size} media URLs that the model's provider does not fetch itself; the gateway fetches at most ${MAX_URLS} per request. Send the others as inline data.`,
    );
  const fetched = await fetchAll([...wanted.values()], fetchMedia);
  return walkMedia(call, (part, path) => {
    const url = urlToFetch(part, quirks);
    const media = url === undefined ? undefined : fetched.get(url);
    return media === undefined ? part : { ...part, source: sourceOf(part, media, path) };
  });
}

function urlToFetch({ kind, source }: MediaPart, quirks: MediaQuirks): string | undefined {
  if (source.type !== "url" || quirks.mediaUrls.includes(kind) || !quirks.media.includes(kind)) return undefined;
  if (quirks.ownUrls?.test(source.url)) return undefined;
  return /^https?:/i.test(source.url) ? source.url : undefined;
}

/** The same without a copy of the call: nearly all have nothing to fetch. */
function visitMedia(parts: readonly Part[], parentPath: string, visit: (part: MediaPart, path: string) => void): void {
  for (const part of parts) {
    const path = part.path ?? parentPath;
    if (part.type === "tool-result" || part.type === "search-result") visitMedia(part.content, path, visit);
    else if (part.type !== "media") continue;
    else if (part.source.type === "parts") visitMedia(part.source.parts, path, visit);
    else visit(part, path);
  }
}

/** A few at a time; the first failure stops all. */
async function fetchAll(wanted: readonly Wanted[], fetchMedia: FetchMedia): Promise<Map<string, FetchedMedia>> {
  const fetched = new Map<string, FetchedMedia>();
  const stop = new AbortController();
  const queue = wanted.values();
  let total = 0;
  const work = async () => {
    for (const { url, path } of queue) {
      if (stop.signal.aborted) return;
      const media = await fetchMedia(url, { signal: stop.signal }).catch((error: unknown) => {
        throw error instanceof MediaFetchError ? notFetched(path, error.reason, error) : error;
      });
      total += media.bytes.length;
      if (total > MAX_BYTES) throw notFetched(path, `the media of this request add up to more than ${MAX_BYTES} bytes`);
      fetched.set(url, media);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(MAX_AT_ONCE, wanted.length) }, work));
  } finally {
    stop.abort();
  }
  return fetched;
}

const notFetched = (path: string, reason: string, cause?: unknown) =>
  new GatewayError("invalid_request", `${path} could not be fetched: ${reason}`, { path, cause });

const PREFIXES: Readonly<Record<MediaKind, readonly string[]>> = {
  image: ["image/"],
  document: ["application/", "text/"],
  audio: ["audio/"],
  video: ["video/"],
};
const UNKNOWN_TYPE = "application/octet-stream";

function sourceOf({ kind, source }: MediaPart, media: FetchedMedia, path: string): MediaSource {
  // If the host does not declare a type, the caller's type counts.
  const said = source.type === "url" ? source.mimeType : undefined;
  const mimeType = media.mimeType === UNKNOWN_TYPE ? (said ?? UNKNOWN_TYPE) : media.mimeType;
  const fits = mimeType !== UNKNOWN_TYPE && PREFIXES[kind].some((prefix) => mimeType.startsWith(prefix));
  if (!fits) throw notFetched(path, `expected ${kind} content, got ${mimeType}`);
  if (kind === "document" && mimeType.startsWith("text/"))
    return { type: "text", text: new TextDecoder().decode(media.bytes) };
  const { buffer, byteOffset, length } = media.bytes;
  return { type: "data", mimeType, data: Buffer.from(buffer, byteOffset, length).toString("base64") };
}
