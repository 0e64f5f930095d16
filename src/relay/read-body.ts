import { GatewayError } from "../canon/error.ts";
import { isObject } from "../canon/json.ts";
import type { ReceivedRequest } from "../dialects/dialect.ts";
import type { Gateway } from "./gateway.ts";

/** Bodies up to this size are read in one piece, which is several times cheaper than walking over their parts. */
const READ_AT_ONCE = 1024 * 1024;

const decoder = new TextDecoder("utf-8", { fatal: true });

type BodyReader = Pick<Gateway, "watchdog" | "timings">;

/** Reads, bounds and parses a JSON body; every way in which that can fail is told in the caller's terms. */
export async function readBody(request: Request, maxBytes: number, gateway: BodyReader): Promise<ReceivedRequest> {
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
  return { text, bytes, body };
}

async function readBytes(request: Request, maxBytes: number, gateway: BodyReader): Promise<Buffer> {
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > maxBytes) throw tooLarge(maxBytes);
  const read =
    declared <= READ_AT_ONCE ? () => readAtOnce(request) : (heard: () => void) => readParts(request, maxBytes, heard);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  let deadline: number | undefined;
  const unwatch = gateway.watchdog.watch((now) => {
    deadline ??= now + gateway.timings.bodyStallMs;
    if (now > deadline) reject(new GatewayError("invalid_request", "The body stopped arriving before it was whole."));
  });
  read(() => {
    deadline = undefined;
  }).then(resolve, reject);
  try {
    return await promise;
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError("invalid_request", "The connection broke before the body was whole.", { cause: error });
  } finally {
    unwatch();
  }
}

const readAtOnce = async (request: Request) => Buffer.from(await request.arrayBuffer());

/** A large body, or one of unknown length: counted while it is read, and given up only when it stops arriving. */
async function readParts(request: Request, maxBytes: number, heard: () => void): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request.body ?? []) {
    heard();
    size += part.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    parts.push(part);
  }
  return Buffer.concat(parts, size);
}

const tooLarge = (maxBytes: number) =>
  new GatewayError(
    "too_large",
    `The body is larger than the ${Number((maxBytes / 1048576).toFixed(2))} MB that this gateway takes.`,
  );
