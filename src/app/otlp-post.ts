import { promisify } from "node:util";
import type { Post } from "../telemetry/otlp/delivery.ts";
import type { TelemetrySettings } from "./telemetry-settings.ts";

const MAX_ANSWER_BYTES = 64 * 1024;

/** Loaded only when needed: with its dependencies it takes a tenth of the start-up time. */
async function compress(body: string | Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const { gzip } = await import("node:zlib");
  return await promisify(gzip)(body);
}

/** Sends to a collector with the runtime's HTTP client, so that it shares no connections with calls. */
export function otlpPost({ headers, gzip: zips, timeoutMs }: TelemetrySettings): Post {
  const own = Object.fromEntries(Object.entries(headers).map(([name, secret]) => [name, secret.reveal()]));
  return async ({ url, body }) => {
    const answer = await fetch(url, {
      method: "POST",
      headers: { ...own, "content-type": "application/json", ...(zips ? { "content-encoding": "gzip" } : {}) },
      body: zips ? await compress(body) : body,
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    return {
      status: answer.status,
      retryAfter: answer.headers.get("retry-after"),
      body: await beginning(answer),
    };
  };
}

/** Reads no more of a response than a collector needs. */
async function beginning({ body }: Response): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_ANSWER_BYTES) break;
  }
  return text;
}
