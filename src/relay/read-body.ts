import { GatewayError } from "../canon/error.ts";
import { isObject, type JsonObject } from "../canon/json.ts";
import type { Gateway } from "./gateway.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

type BodyReader = Pick<Gateway, "watchdog" | "timings">;

export interface RequestBody {
  text: string;
  body: JsonObject;
}

/** Reads, bounds and parses a JSON body; every way in which that can fail is told in the caller's terms. */
export async function readBody(request: Request, maxBytes: number, gateway: BodyReader): Promise<RequestBody> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/([\w.-]+\+)?json\b/i.test(type)) {
    const found = type === "" ? "none was sent" : `this one is ${type.slice(0, 80)}`;
    throw new GatewayError("unsupported_media_type", `The body must have content-type application/json; ${found}.`);
  }
  const bytes = await readBytes(request, maxBytes, gateway);
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (cause) {
    throw new GatewayError("invalid_request", "The body is not valid UTF-8.", { cause });
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^JSON Parse error: /, "") : "";
    throw new GatewayError("invalid_request", `The body is not valid JSON: ${why || "it cannot be parsed"}.`, {
      cause,
    });
  }
  if (!isObject(body)) throw new GatewayError("invalid_request", "The body must be a JSON object.");
  return { text, body };
}

async function readBytes(request: Request, maxBytes: number, { watchdog, timings }: BodyReader): Promise<Uint8Array> {
  const tooLarge = () =>
    new GatewayError(
      "too_large",
      `The body is larger than the ${Math.floor(maxBytes / 1048576)} MB that this gateway takes.`,
    );
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
  const reader = request.body?.getReader();
  if (!reader) return new Uint8Array(0);
  const parts: Uint8Array[] = [];
  let size = 0;
  let deadline: number | undefined;
  const { promise: stalled, reject } = Promise.withResolvers<never>();
  const unwatch = watchdog.watch((now) => {
    deadline ??= now + timings.bodyStallMs;
    if (now > deadline) reject(new GatewayError("invalid_request", "The body stopped arriving before it was whole."));
  });
  stalled.catch(() => undefined);
  try {
    for (;;) {
      const { value, done } = await Promise.race([reader.read(), stalled]);
      if (done) break;
      deadline = undefined;
      size += value.length;
      if (size > maxBytes) throw tooLarge();
      parts.push(value);
    }
  } catch (error) {
    reader.cancel().catch(() => undefined);
    if (error instanceof GatewayError) throw error;
    throw new GatewayError("invalid_request", "The connection broke before the body was whole.", { cause: error });
  } finally {
    unwatch();
  }
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts, size);
}
