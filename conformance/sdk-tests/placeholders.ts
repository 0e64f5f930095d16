import { drawImage } from "../../simulator/media-maker/draw-image.ts";

/** A request of a test, as it is sent to the gateway. */
export interface TestRequest {
  method: string;
  path: string;
  search: string;
  headers: Headers;
  body: Uint8Array<ArrayBuffer> | null;
}

interface Gateway {
  url: string;
  key: string;
}

/** What the tests upload in place of every file. */
const EXAMPLE = Buffer.from("Example data");
/** Numbers that mean nothing as 0, and are 0 in the tests. */
const AT_LEAST_ONE = ["max_completion_tokens", "max_tokens", "best_of"];
/** Endpoints that the tests call without a model, which a gateway needs. */
const DEFAULT_MODELS: readonly [path: RegExp, model: string][] = [
  [/\/responses(\/\w+)?$/, "gpt-4.1"],
  [/\/images\/\w+$/, "gpt-image-1.5"],
];

/**
 * The tests run against a mock that checks only types, so they name objects that do not exist and upload bytes that are not media.
 * These placeholders are replaced by real values, so that the gateway judges the rest of the request. Whatever has no real value here
 * stays as it is.
 */
export async function withRealValues(request: TestRequest, gateway: Gateway): Promise<TestRequest> {
  const path = await realPath(request, gateway);
  const search = realQuery(request.search);
  const isForm = request.headers.get("content-type")?.startsWith("multipart/") === true;
  if (request.body === null || request.body.length === 0) return { ...request, path, search };
  const body = isForm ? await realFiles(request, request.body) : await realFields(request, request.body, gateway);
  return { ...request, path, search, body };
}

function realQuery(search: string): string {
  const query = new URLSearchParams(search);
  if (query.get("limit") === "0") query.set("limit", "1");
  if (query.get("after") === "after") query.delete("after");
  return query.size === 0 ? "" : `?${query}`;
}

async function realPath({ method, path }: TestRequest, gateway: Gateway): Promise<string> {
  const conversation = /^\/v1\/conversations\/[^/]+(?<rest>\/items)?(?<item>\/[^/]+)?$/.exec(path)?.groups;
  if (conversation !== undefined) {
    const { rest = "", item } = conversation;
    return `/v1/conversations/${await makeConversation(gateway)}${rest}${item === undefined ? "" : `/${ITEM.id}`}`;
  }
  const completion = /^\/v1\/chat\/completions\/[^/]+(?<rest>\/messages)?$/.exec(path)?.groups;
  if (completion !== undefined)
    return `/v1/chat/completions/${await makeCompletion(gateway)}${completion["rest"] ?? ""}`;
  const [, before, id = "", after = ""] = /^(\/v1\/(?:responses|videos)\/)([^/]+)(\/\w+)?$/.exec(path) ?? [];
  if (before === undefined || !/^(resp_|response_id|video_)/.test(id)) return path;
  if (before.includes("videos")) return `${before}${await makeVideo(gateway)}${after}`;
  const background = method === "POST" && after === "/cancel";
  return `${before}${await makeResponse(gateway, background)}${after}`;
}

async function realFields({ path }: TestRequest, bytes: Uint8Array<ArrayBuffer>, gateway: Gateway) {
  const fields = parsed(bytes);
  if (fields === undefined) return bytes;
  fields["model"] ??= DEFAULT_MODELS.find(([pattern]) => pattern.test(path))?.[1];
  if (/\/responses(\/\w+)?$/.test(path)) fields["input"] ??= "Hello";
  for (const name of AT_LEAST_ONE) if (fields[name] === 0) fields[name] = 1;
  if (typeof fields["previous_response_id"] === "string") {
    fields["previous_response_id"] = await makeResponse(gateway, false);
    // The vendor accepts only one of the two.
    delete fields["conversation"];
  }
  if (typeof fields["conversation"] === "string") fields["conversation"] = await makeConversation(gateway);
  return Buffer.from(JSON.stringify(fields));
}

async function realFiles({ path }: TestRequest, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const file = path.includes("/audio/") ? silence() : await image();
  const parts: Uint8Array[] = [];
  let from = 0;
  const whole = Buffer.from(bytes);
  for (let at = whole.indexOf(EXAMPLE); at >= 0; at = whole.indexOf(EXAMPLE, from)) {
    parts.push(whole.subarray(from, at), file);
    from = at + EXAMPLE.length;
  }
  return Buffer.concat([...parts, whole.subarray(from)]);
}

const image = () => drawImage({ prompt: "a fox", width: 720, height: 1280, seed: 1, format: "png" });

/** A second of silence as a WAV file. */
function silence(): Buffer {
  const rate = 8_000;
  const header = Buffer.alloc(44);
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + rate, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write("data", 36);
  header.writeUInt32LE(rate, 40);
  return Buffer.concat([header, Buffer.alloc(rate, 128)]);
}

/** An item keeps its id in a conversation. */
const ITEM = { type: "message", id: "msg_abc", role: "user", content: "Hello" };

const makeConversation = (gateway: Gateway): Promise<string> => idOf(gateway, "/v1/conversations", { items: [ITEM] });

const makeCompletion = (gateway: Gateway): Promise<string> =>
  idOf(gateway, "/v1/chat/completions", {
    model: "gpt-4.1",
    messages: [{ role: "user", content: "Hello" }],
    store: true,
  });

const makeResponse = (gateway: Gateway, background: boolean): Promise<string> =>
  idOf(gateway, "/v1/responses", { model: "gpt-4.1", input: "Hello", store: true, background });

async function makeVideo(gateway: Gateway): Promise<string> {
  const id = await idOf(gateway, "/v1/videos", { model: "sora-2", prompt: "a fox" });
  for (let attempt = 0; attempt < 200; attempt++) {
    const response = await fetch(`${gateway.url}/v1/videos/${id}`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    if (((await response.json()) as { status: string }).status === "completed") return id;
    await Bun.sleep(100);
  }
  throw new Error("no video was made");
}

async function idOf({ url, key }: Gateway, path: string, body: object): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  return ((await response.json()) as { id: string }).id;
}

function parsed(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    return JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
