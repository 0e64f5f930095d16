import { GatewayError } from "../../canon/error.ts";
import type { InlineImage, MediaLink } from "../../media/image.ts";
import type { Provider } from "../../providers/provider.ts";
import { MediaFetchError } from "../../wire/media-fetch.ts";
import { sniffMedia } from "../../wire/sniff-media.ts";
import { type ExchangeOptions, isSuccess } from "../attempt/provider-exchange.ts";
import type { Gateway } from "../gateway.ts";
import { mediaOf, openMedia } from "./exchange.ts";

const MAX_IMAGE_BYTES = 64 * 1024 * 1024;
const MAX_VIDEO_BYTES = 1024 ** 3;
const TIMEOUT_MS = 300_000;
const MAX_REDIRECTS = 3;

interface FetchedResult {
  mimeType: string;
  content: ReadableStream<Uint8Array>;
}

interface Fetching extends Pick<Gateway, "clock" | "send" | "streamMedia">, Pick<ExchangeOptions, "traceLines"> {
  provider: Provider;
  signal: AbortSignal;
}

/**
 * Fetches a provider's result from its URL. The provider's own hosts are called directly, with the credential if the link needs it.
 * All others are fetched under the rules for foreign URLs (S12), never with the credential.
 */
export async function fetchResult(link: MediaLink, fetching: Fetching): Promise<FetchedResult> {
  const { clock, send, provider, signal, traceLines } = fetching;
  let { url } = link;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const own = url.startsWith("/") || mediaOf(provider).owns(url);
    if (!own) return fetchForeign(url, fetching);
    const request = { method: "GET" as const, url, headers: { accept: "*/*" }, anonymous: link.credential !== true };
    const exchange = await openMedia(provider, request, { clock, send, signal, timeoutMs: TIMEOUT_MS, traceLines });
    const { status, headers } = exchange;
    if (!isSuccess(exchange)) exchange.close();
    const location = headers.get("location");
    if (status >= 300 && status < 400 && location !== undefined) {
      url = new URL(location, exchange.url).href;
      continue;
    }
    if (!isSuccess(exchange)) throw notFetched(`HTTP status ${status}`);
    const type = headers.get("content-type")?.split(";")[0]?.trim() ?? "";
    return { mimeType: link.mimeType ?? (type === "" ? "video/mp4" : type), content: exchange.stream() };
  }
  throw notFetched(`it redirects more than ${MAX_REDIRECTS} times`);
}

export async function fetchImage(link: MediaLink, fetching: Fetching): Promise<InlineImage> {
  const { mimeType, content } = await fetchResult(link, fetching);
  const bytes = await readImage(content, fetching.signal);
  return { mimeType: sniffMedia(bytes) ?? mimeType, base64: bytes.toString("base64") };
}

async function readImage(content: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of content) {
      size += chunk.length;
      if (size > MAX_IMAGE_BYTES) throw notFetched(`it is larger than ${MAX_IMAGE_BYTES} bytes`);
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    signal.throwIfAborted();
    throw notFetched("the host closed the connection before the end", cause);
  }
  return Buffer.concat(chunks, size);
}

async function fetchForeign(url: string, { streamMedia, signal }: Fetching): Promise<FetchedResult> {
  try {
    const { stream, mimeType } = await streamMedia(url, {
      signal,
      maxBytes: MAX_VIDEO_BYTES,
      timeoutMs: TIMEOUT_MS,
    });
    return { mimeType, content: stream };
  } catch (error) {
    if (error instanceof MediaFetchError) throw notFetched(error.reason, error);
    throw error;
  }
}

const notFetched = (reason: string, cause?: unknown) =>
  new GatewayError("upstream_failed", `The provider's result could not be downloaded from its URL: ${reason}.`, {
    cause,
  });
