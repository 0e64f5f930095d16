import type { SampledDialect } from "../../testing/sampled-dialects.ts";

/** What a client has put together of a stream, read without any code of the gateway's. */
export interface ReadStream {
  text: string;
  thoughts: string;
  calls: string[];
  /** Blocks and parts that are neither text nor thoughts nor calls. */
  others: string[];
  /** Distinct ids of the message. */
  ids: string[];
  /** Reasons for the end. */
  stops: string[];
  /** Terminal events: `[DONE]`, `message_stop`, a chunk with a finish reason. */
  ends: number;
  errors: string[];
  /** How often the usage was reported in the end. */
  usages: number;
  inputTokens: number;
  outputTokens: number;
  /** What no client could make sense of. */
  faults: string[];
}

type Json = Record<string, unknown>;
const object = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {});
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.map(object) : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const number = (value: unknown): number => (typeof value === "number" ? value : 0);

/** Reads a stream as a careful client of the protocol does. */
export function readClientStream(dialect: SampledDialect, stream: string): ReadStream {
  const read: ReadStream = {
    text: "",
    thoughts: "",
    calls: [],
    others: [],
    ids: [],
    stops: [],
    ends: 0,
    errors: [],
    usages: 0,
    inputTokens: 0,
    outputTokens: 0,
    faults: [],
  };
  const reader = { chat: chatReader, messages: messagesReader, genai: genaiReader }[dialect](read);
  for (const event of stream.split("\n\n")) {
    const data = event
      .split("\n")
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).trim())
      .join("\n");
    // Keep-alives, and the bare repetition of an error in genai.
    if (data === "") continue;
    if (read.ends > 0 && dialect === "messages") read.faults.push(`an event behind the end: ${data.slice(0, 80)}`);
    if (data === "[DONE]") read.ends++;
    else reader(JSON.parse(data) as Json);
  }
  return read;
}

const name = (read: ReadStream, id: unknown) => {
  if (!read.ids.includes(text(id))) read.ids.push(text(id));
};

const chatReader = (read: ReadStream) => (chunk: Json) => {
  if (chunk["error"] !== undefined) {
    read.errors.push(text(object(chunk["error"])["message"]));
    return;
  }
  name(read, chunk["id"]);
  for (const choice of list(chunk["choices"])) {
    const delta = object(choice["delta"]);
    read.text += text(delta["content"]);
    read.thoughts += text(delta["reasoning"]);
    for (const call of list(delta["tool_calls"])) read.calls.push(JSON.stringify(call));
    if (typeof choice["finish_reason"] === "string") read.stops.push(choice["finish_reason"]);
  }
  const usage = object(chunk["usage"]);
  // Some hosts report it with each chunk; the chunk without a choice is the protocol's own.
  if (chunk["usage"] && list(chunk["choices"]).length === 0) read.usages++;
  read.inputTokens = Math.max(read.inputTokens, number(usage["prompt_tokens"]));
  read.outputTokens = Math.max(read.outputTokens, number(usage["completion_tokens"]));
};

const messagesReader = (read: ReadStream) => {
  const open = new Map<unknown, string>();
  let next = 0;
  return (event: Json) => {
    switch (event["type"]) {
      case "message_start":
        name(read, object(event["message"])["id"]);
        break;
      case "content_block_start": {
        const block = object(event["content_block"]);
        if (event["index"] !== next++ || open.size > 0) read.faults.push(`a block out of place: ${event["index"]}`);
        open.set(event["index"], text(block["type"]));
        read.text += text(block["text"]);
        if (block["type"] === "tool_use") read.calls.push(JSON.stringify(block));
        else if (!["text", "thinking", "redacted_thinking"].includes(text(block["type"])))
          read.others.push(text(block["type"]));
        break;
      }
      case "content_block_delta": {
        const delta = object(event["delta"]);
        if (!open.has(event["index"])) read.faults.push(`a delta of a block that is not open: ${event["index"]}`);
        read.text += text(delta["text"]);
        read.thoughts += text(delta["thinking"]);
        break;
      }
      case "content_block_stop":
        if (!open.delete(event["index"])) read.faults.push(`the end of a block that is not open: ${event["index"]}`);
        break;
      case "message_delta": {
        const usage = object(event["usage"]);
        if (open.size > 0) read.faults.push("a block without an end");
        read.stops.push(text(object(event["delta"])["stop_reason"]));
        read.usages++;
        read.inputTokens = number(usage["input_tokens"]);
        read.outputTokens = number(usage["output_tokens"]);
        break;
      }
      case "message_stop":
        read.ends++;
        break;
      case "error":
        read.errors.push(text(object(event["error"])["message"]));
        break;
      default:
    }
  };
};

const genaiReader = (read: ReadStream) => (chunk: Json) => {
  if (chunk["error"] !== undefined) {
    read.errors.push(text(object(chunk["error"])["message"]));
    return;
  }
  name(read, chunk["responseId"]);
  for (const candidate of list(chunk["candidates"])) {
    for (const part of list(object(candidate["content"])["parts"])) {
      if (part["functionCall"] !== undefined) read.calls.push(JSON.stringify(part));
      else if (part["text"] === undefined) read.others.push(Object.keys(part).join());
      else if (part["thought"] === true) read.thoughts += text(part["text"]);
      else read.text += text(part["text"]);
    }
    if (typeof candidate["finishReason"] === "string") {
      read.stops.push(candidate["finishReason"]);
      read.ends++;
      read.usages++;
    }
  }
  const usage = object(chunk["usageMetadata"]);
  read.inputTokens = number(usage["promptTokenCount"]);
  read.outputTokens = number(usage["candidatesTokenCount"]);
};
