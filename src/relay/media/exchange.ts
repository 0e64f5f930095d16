import type { Clock } from "../../base/clock.ts";
import { deadline } from "../../base/deadline.ts";
import { parseObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { ProviderMedia } from "../../providers/media-adapters/provider-media.ts";
import type { Provider } from "../../providers/provider.ts";
import { readRetryAfter } from "../../wire/http/retry-after.ts";
import { parseLargeJson } from "../../wire/parse-large-json.ts";
import { connectionFailure, errnoOf } from "../connection-failure.ts";

/** Enough for several large images in base64. */
const MAX_ANSWER_BYTES = 512 * 1024 * 1024;

/** The connection broke or timed out after the request was sent: it may have arrived, and a retry may run it twice. */
export class UncertainError extends GatewayError {}

export interface ExchangeOptions {
  clock: Clock;
  /** Ends the exchange before its time. */
  signal: AbortSignal;
  /** For the whole exchange. */
  timeoutMs: number;
}

export function mediaOf(provider: Provider): ProviderMedia {
  if (provider.media === undefined) throw new Error(`provider ${provider.name} has no media interface`);
  return provider.media;
}

/** Sends a request to a provider's media API, and resolves when the answer's headers have come. Redirects are not followed. */
export async function openMedia(
  provider: Provider,
  request: MediaRequest,
  options: ExchangeOptions,
): Promise<Response> {
  const { url, ...init } = await mediaOf(provider).outgoing(request);
  const signal = AbortSignal.any([options.signal, deadline(options.clock, options.timeoutMs).signal]);
  try {
    const headers = { "accept-encoding": "identity", ...init.headers };
    return await fetch(url, { ...init, headers, signal, redirect: "manual" });
  } catch (cause) {
    throw explain(cause, options);
  }
}

/** An exchange whose answer is read whole. */
export async function exchangeMedia(
  provider: Provider,
  request: MediaRequest,
  options: ExchangeOptions,
): Promise<MediaAnswer> {
  const response = await openMedia(provider, request, options);
  return readAnswer(response, options);
}

export async function readAnswer(
  response: Response,
  options: ExchangeOptions,
  maxBytes = MAX_ANSWER_BYTES,
): Promise<MediaAnswer> {
  const text = await readText(response, options, maxBytes);
  return {
    status: response.status,
    body: parseObject(text, parseLargeJson),
    text,
    retryAfterSeconds: readRetryAfter(response.headers.get("retry-after"), options.clock.wallMs()),
  };
}

async function readText(response: Response, options: ExchangeOptions, maxBytes: number): Promise<string> {
  const declared = response.headers.get("content-length");
  if (Number(declared) > maxBytes) throw tooLarge(maxBytes);
  // Some hosts compress unasked, and no header says how large the body was before.
  const plain = (response.headers.get("content-encoding") ?? "identity") === "identity";
  try {
    // The runtime decodes the text as bytes arrive, so that they are never held twice.
    if (plain && declared !== null) return await response.text();
    const decoder = new TextDecoder();
    let text = "";
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  } catch (cause) {
    throw explain(cause, options);
  }
}

const tooLarge = (maxBytes: number) =>
  new GatewayError("upstream_failed", `The provider's answer is larger than ${maxBytes} bytes.`);

function explain(cause: unknown, { signal, timeoutMs }: ExchangeOptions): GatewayError {
  if (cause instanceof GatewayError) return cause;
  signal.throwIfAborted();
  const code = errnoOf(cause) ?? "";
  if (/^(ConnectionRefused|ECONNREFUSED|ENOTFOUND|FailedToOpenSocket)$/.test(code) || /^(CERT|.*_CERT)/.test(code))
    return connectionFailure("connect", cause);
  const timedOut = cause instanceof Error && cause.name === "TimeoutError";
  if (timedOut)
    return new UncertainError("upstream_timeout", `The provider did not answer within ${timeoutMs} ms.`, { cause });
  const { kind, message, failure } = connectionFailure("broken", cause);
  return new UncertainError(kind, message, { failure, cause });
}

export const isSuccess = ({ status }: { status: number }): boolean => status >= 200 && status < 300;
