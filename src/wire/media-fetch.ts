import type { Clock } from "../base/clock.ts";
import { deadline } from "../base/deadline.ts";
import { net } from "../base/node-net.ts";
import { isPublicAddress } from "./public-address.ts";
import { SNIFFABLE, sniffMedia } from "./sniff-media.ts";

export interface FetchedMedia {
  bytes: Uint8Array;
  /** Without parameters; text is always UTF-8. */
  mimeType: string;
}

export interface MediaFetchOptions {
  clock: Clock;
  /** Aborts the fetch. */
  signal?: AbortSignal;
  allowHttp?: boolean;
  /** Which IP addresses may be called. Default: public addresses. */
  allowAddress?: (address: string) => boolean;
  maxBytes?: number;
  /** Covers the whole fetch: name resolution, redirects and the body. */
  timeoutMs?: number;
  resolve?: (hostname: string) => Promise<readonly string[]>;
  /** PEM of an authority to trust instead of the runtime's store. */
  certificateAuthority?: string;
}

/** Why a fetch failed, worded for the client that sent the URL. It reveals nothing about the gateway's network. */
export class MediaFetchError extends Error {
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause });
    this.name = "MediaFetchError";
    this.reason = reason;
  }
}

const MAX_BYTES = 20 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 3;
/** How many addresses of a host are tried. */
const MAX_ADDRESSES = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const PAGES: ReadonlySet<string> = new Set(["text/html", "application/xhtml+xml"]);
const UNKNOWN_TYPE = "application/octet-stream";

/** Loads the resolver with the first name. */
async function resolveByName(hostname: string): Promise<string[]> {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

/**
 * Fetches a URL that a client sent, without opening a way into the gateway's network (S12): the name is resolved once, all its
 * addresses are checked, and the connection goes to a checked address while the certificate is verified for the name. Redirects
 * are checked the same way.
 */
export async function fetchMedia(url: string, options: MediaFetchOptions): Promise<FetchedMedia> {
  const { timeoutMs = TIMEOUT_MS } = options;
  const late = deadline(options.clock, timeoutMs);
  const done = new AbortController();
  const signal = AbortSignal.any([late.signal, done.signal, ...(options.signal ? [options.signal] : [])]);
  try {
    return await readMedia(await follow(url, { ...options, signal }), options.maxBytes ?? MAX_BYTES);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (late.signal.aborted) throw new MediaFetchError(`it took longer than ${timeoutMs / 1000} s`, error);
    throw error instanceof MediaFetchError
      ? error
      : new MediaFetchError("its host closed the connection before the response was complete", error);
  } finally {
    // Whatever is still open is not needed: a redirect's body, or the rest of a body that is too large.
    done.abort();
    late.cancel();
  }
}

interface StreamedMedia {
  stream: ReadableStream<Uint8Array>;
  /** As the host declares it, without parameters. */
  mimeType: string;
}

/** Streams media from an external host. */
export type StreamMedia = (url: string, options: Omit<MediaFetchOptions, "clock">) => Promise<StreamedMedia>;

/** Like `fetchMedia`, for content that is too large for memory: it is streamed, within the same limits. */
export async function streamMedia(url: string, options: MediaFetchOptions): Promise<StreamedMedia> {
  const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = options;
  const left = new AbortController();
  const late = deadline(options.clock, timeoutMs);
  const signal = AbortSignal.any([late.signal, left.signal, ...(options.signal ? [options.signal] : [])]);
  const end = () => {
    left.abort();
    late.cancel();
  };
  try {
    const response = accepted(await follow(url, { ...options, signal }));
    if (Number(response.headers.get("content-length")) > maxBytes) throw tooLarge(maxBytes);
    const mimeType = (response.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() || UNKNOWN_TYPE;
    if (PAGES.has(mimeType)) throw new MediaFetchError("it is a web page");
    return { mimeType, stream: bounded(response, maxBytes, end) };
  } catch (error) {
    end();
    options.signal?.throwIfAborted();
    if (late.signal.aborted) throw new MediaFetchError(`it took longer than ${timeoutMs / 1000} s`, error);
    throw error instanceof MediaFetchError
      ? error
      : new MediaFetchError("its host closed the connection before the response was complete", error);
  }
}

/** A reader that stops ends the fetch. */
function bounded(response: Response, maxBytes: number, end: () => void): ReadableStream<Uint8Array> {
  const reader = (response.body ?? new Blob([]).stream()).getReader();
  let length = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) {
          end();
          return controller.close();
        }
        length += value.length;
        if (length > maxBytes) {
          end();
          throw tooLarge(maxBytes);
        }
        controller.enqueue(value);
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

interface Reach extends MediaFetchOptions {
  signal: AbortSignal;
}

async function follow(text: string, reach: Reach): Promise<Response> {
  let url = readUrl(text, undefined, reach);
  for (let redirects = 0; ; redirects++) {
    const response = await open(url, await vettedAddresses(url, reach), reach);
    const location = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
    if (location === null) return response;
    if (redirects === MAX_REDIRECTS) throw new MediaFetchError(`it redirects more than ${MAX_REDIRECTS} times`);
    url = readUrl(location, url, reach);
  }
}

function readUrl(text: string, base: URL | undefined, { allowHttp = false }: Reach): URL {
  const what = base === undefined ? "its URL" : "the URL it redirects to";
  const url = URL.parse(text, base?.href);
  if (!url) throw new MediaFetchError(`${what} is not valid`);
  if (url.protocol !== "https:" && !(allowHttp && url.protocol === "http:"))
    throw new MediaFetchError(`${what} does not start with https:`);
  if (url.username !== "" || url.password !== "") throw new MediaFetchError(`${what} contains a user name or password`);
  return url;
}

/** The addresses of a host, resolved once. One forbidden address rules out all of them. */
async function vettedAddresses(url: URL, reach: Reach): Promise<readonly string[]> {
  const { resolve = resolveByName, allowAddress = isPublicAddress, signal } = reach;
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  // To clients, a name that does not exist and one that resolves to an internal address look the same.
  const refusal = (cause?: unknown) => new MediaFetchError("its host has no public address", cause);
  const unknownName = (error: unknown) => {
    throw refusal(error);
  };
  const addresses = net().isIP(literal) ? [literal] : await unlessAborted(resolve(literal).catch(unknownName), signal);
  if (addresses.length === 0 || !addresses.every((one) => net().isIP(one) > 0 && allowAddress(one))) throw refusal();
  // IPv4 first, since not every network has IPv6.
  return addresses.toSorted((one, other) => net().isIP(one) - net().isIP(other)).slice(0, MAX_ADDRESSES);
}

/** For work that cannot be cancelled, such as a DNS lookup. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

async function open(url: URL, addresses: readonly string[], reach: Reach): Promise<Response> {
  let failure: unknown;
  for (const address of addresses) {
    try {
      return await request(url, address, reach);
    } catch (error) {
      reach.signal.throwIfAborted();
      failure = error;
    }
  }
  const code = typeof failure === "object" && failure !== null && "code" in failure ? String(failure.code) : "";
  const reason = /CERT|VERIFY|ISSUER/.test(code)
    ? "the certificate of its host could not be verified"
    : "its host could not be reached";
  throw new MediaFetchError(reason, failure);
}

/** The URL contains the address, so nothing is left to resolve. The `host` header and the certificate check use the host name. */
function request(url: URL, address: string, { signal, certificateAuthority }: Reach): Promise<Response> {
  const literal = net().isIPv6(address) ? `[${address}]` : address;
  const port = url.port === "" ? "" : `:${url.port}`;
  const named = net().isIP(url.hostname.replace(/^\[|\]$/g, "")) === 0;
  return fetch(`${url.protocol}//${literal}${port}${url.pathname}${url.search}`, {
    headers: { host: url.host, accept: "*/*", "accept-encoding": "identity", "user-agent": "trivium" },
    redirect: "manual",
    signal,
    // A connection verified for one name must not serve another name at the same address.
    keepalive: false,
    // A small body may decompress to any size, which could not be counted in time.
    decompress: false,
    tls: {
      rejectUnauthorized: true,
      ...(named ? { serverName: url.hostname.replace(/\.$/, "") } : {}),
      ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
    },
  });
}

function accepted(response: Response): Response {
  if (response.status !== 200) throw new MediaFetchError(`its host returned HTTP status ${response.status}`);
  const encoding = response.headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity")
    throw new MediaFetchError(
      `its host sent it with the content encoding ${JSON.stringify(encoding.slice(0, 20))}, which was not requested`,
    );
  return response;
}

async function readMedia(answer: Response, maxBytes: number): Promise<FetchedMedia> {
  const response = accepted(answer);
  const bytes = await readBody(response, maxBytes);
  const [said = "", ...parameters] = (response.headers.get("content-type") ?? "").split(";");
  const mimeType = typeOf(said.trim().toLowerCase() || UNKNOWN_TYPE, bytes);
  return { bytes: mimeType.startsWith("text/") ? inUtf8(bytes, parameters) : bytes, mimeType };
}

const tooLarge = (maxBytes: number) => new MediaFetchError(`it is larger than ${maxBytes} bytes`);

async function readBody(response: Response, maxBytes: number): Promise<Uint8Array> {
  if (Number(response.headers.get("content-length")) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  if (length === 0) throw new MediaFetchError("it is empty");
  return Buffer.concat(chunks, length);
}

function typeOf(said: string, bytes: Uint8Array): string {
  const seen = sniffMedia(bytes);
  if (seen !== undefined) return seen;
  if (PAGES.has(said)) throw new MediaFetchError("it is a web page");
  if (SNIFFABLE.has(said))
    throw new MediaFetchError(`its host declares it as ${said}, but its content is something else`);
  return said;
}

function inUtf8(bytes: Uint8Array, parameters: readonly string[]): Uint8Array {
  const charset = parameters.map((one) => /^\s*charset\s*=\s*"?([\w.:-]+)"?\s*$/i.exec(one)?.[1]).find(Boolean);
  if (charset === undefined || /^utf-?8$/i.test(charset)) return bytes;
  try {
    return new TextEncoder().encode(new TextDecoder(charset as Bun.Encoding).decode(bytes));
  } catch (error) {
    throw new MediaFetchError(`its text has the unknown encoding ${charset.slice(0, 40)}`, error);
  }
}
