import { arrayAt, isObject, numberAt, objectAt, parseObject, stringAt } from "../base/json.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { GatewayError } from "../canon/error.ts";
import { EventSplitter, readFrames } from "../wire/sse.ts";
import { isModerationCode, readJson, responseChunks } from "./gateway-client.ts";

/** What an answer says about one image. */
export type ReceivedImage =
  | { kind: "partial"; index: number; bytes: Uint8Array }
  | { kind: "made"; index: number; image: { bytes: Uint8Array } | { url: string }; revisedPrompt?: string }
  | { kind: "failed"; reason: string; moderated: boolean };

const MAX_EVENT_BYTES = 256 * 1024 * 1024;

/** The images of a non-streamed answer, in the order in which they were requested. */
export async function* readImageAnswer(response: Response): AsyncGenerator<ReceivedImage> {
  const body = await readJson(response);
  const failures = new Map(arrayAt(body, "errors").map((error) => [numberAt(error, "index"), error]));
  let index = 0;
  for (const failure of failures.values()) yield readFailure(failure);
  for (const item of arrayAt(body, "data")) {
    while (failures.has(index)) index += 1;
    yield readImage(item, index);
    index += 1;
  }
}

/** The same for a stream (contract 2.14), with partial images. */
export async function* readImageStream(response: Response): AsyncGenerator<ReceivedImage> {
  let index = 0;
  for await (const event of eventsOf(response)) {
    const type = stringAt(event, "type") ?? "";
    const error = objectAt(event, "error");
    if (type.endsWith(".partial_image")) {
      yield { kind: "partial", index: numberAt(event, "partial_image_index") ?? 0, bytes: bytesOf(event) };
    } else if (type.endsWith(".completed")) yield readImage(event, index++);
    else if (error) {
      index += 1;
      yield readFailure(error);
    }
  }
  if (index === 0) throw new GatewayError("upstream_failed", "The gateway's response ended before the image arrived.");
}

async function* eventsOf(response: Response) {
  const splitter = new EventSplitter(MAX_EVENT_BYTES);
  for await (const chunk of responseChunks(response)) {
    for (const { data } of readFrames(splitter.push(chunk))) {
      const event = data === undefined ? undefined : parseObject(data);
      if (event) yield event;
    }
  }
}

function readImage(item: unknown, index: number): ReceivedImage {
  const url = stringAt(item, "url");
  if (url === undefined && !stringAt(item, "b64_json")) return readFailure(undefined);
  const revisedPrompt = stringAt(item, "revised_prompt");
  return {
    kind: "made",
    index,
    image: url === undefined ? { bytes: bytesOf(item) } : { url },
    ...withoutAbsent({ revisedPrompt }),
  };
}

function readFailure(error: unknown): ReceivedImage {
  const code = isObject(error) ? error["code"] : undefined;
  const reason = stringAt(error, "message") ?? "The image was not generated. The provider gave no reason.";
  return { kind: "failed", reason, moderated: isModerationCode(code) };
}

const bytesOf = (item: unknown): Uint8Array => Buffer.from(stringAt(item, "b64_json") ?? "", "base64");
