import type { ScriptedDialect } from "../../testing/sampled-dialects.ts";

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
  /** Terminal events: `[DONE]`, `message_stop`, `response.completed`, a chunk with a finish reason. */
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

/** The protocols in which nothing may follow the last event. */
const NAMED_ENDS: ReadonlySet<ScriptedDialect> = new Set(["messages", "responses"]);

/** Reads a stream as a careful client of the protocol does. */
export function readClientStream(dialect: ScriptedDialect, stream: string): ReadStream {
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
  const reader = {
    chat: chatReader,
    messages: messagesReader,
    genai: genaiReader,
    responses: responsesReader,
  }[dialect](read);
  for (const event of stream.split("\n\n")) {
    const data = event
      .split("\n")
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).trim())
      .join("\n");
    // Keep-alives, and the bare repetition of an error in genai.
    if (data === "") continue;
    if (read.ends > 0 && NAMED_ENDS.has(dialect)) read.faults.push(`an event after the end: ${data.slice(0, 80)}`);
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
    for (const _image of list(delta["images"])) read.others.push("image");
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

const responsesReader = (read: ReadStream) => {
  const items = new Map<unknown, { id: string; done: boolean }>();
  let next = 0;
  const end = (event: Json) => {
    const response = object(event["response"]);
    const usage = object(response["usage"]);
    read.ends++;
    read.stops.push(text(response["status"]));
    if (response["usage"]) read.usages++;
    read.inputTokens = number(usage["input_tokens"]);
    read.outputTokens = number(usage["output_tokens"]);
    const output = list(response["output"]);
    const said = output.flatMap(({ content }) => list(content)).filter(({ type }) => type === "output_text");
    if (said.map((part) => text(part["text"])).join("") !== read.text)
      read.faults.push("the whole says something else");
    const told = [...items.values()].map(({ id }) => id);
    if (output.map(({ id }) => text(id)).join() !== told.join()) read.faults.push(`other items than ${told.join()}`);
    if ([...items.values()].some(({ done }) => !done)) read.faults.push("an item without an end");
  };
  const add = (event: Json) => {
    const item = object(event["item"]);
    if (event["output_index"] !== items.size) read.faults.push(`an item out of place: ${event["output_index"]}`);
    items.set(event["output_index"], { id: text(item["id"]), done: false });
    if (CALL_ITEMS.has(text(item["type"]))) read.calls.push(JSON.stringify(item));
    else if (!WORD_ITEMS.has(text(item["type"]))) read.others.push(text(item["type"]));
  };
  /** An event of an item that was added, under the id that it was added with. */
  const place = (event: Json, type: string) => {
    const known = items.get(event["output_index"]);
    const id = text(event["item_id"]) || text(object(event["item"])["id"]);
    // A thought has the id that its sealed value is bound to in the end (R21).
    if (object(event["item"])["type"] === "reasoning" && known !== undefined) known.id = id;
    if (known === undefined || known.done || known.id !== id) read.faults.push(`${type} of ${id}, which is not open`);
    if (type !== "response.output_item.done") return;
    if (known !== undefined) known.done = true;
    if (carriesWork(object(event["item"])["encrypted_content"])) read.others.push("carried");
  };
  return (event: Json) => {
    const type = text(event["type"]);
    if (event["sequence_number"] !== next++) read.faults.push(`${type} is number ${event["sequence_number"]}`);
    if (event["response"] !== undefined) name(read, object(event["response"])["id"]);
    if (type === "response.output_item.added") add(event);
    else if (event["output_index"] !== undefined) place(event, type);
    if (type === "response.output_text.delta") read.text += text(event["delta"]);
    else if (THOUGHT_DELTA.test(type)) read.thoughts += text(event["delta"]);
    else if (type === "response.refusal.delta") read.others.push("refusal");
    else if (type === "response.completed" || type === "response.incomplete") end(event);
    else if (type === "error") read.errors.push(text(object(event["error"])["message"]));
    else if (type === "response.failed" && read.errors.length === 0) read.faults.push("a failure without its error");
  };
};

/**
 * Whether a sealed value contains a block of another protocol, such as the work of a host's own tool (decision 0011).
 */
function carriesWork(sealed: unknown): boolean {
  const value = /^trv1\.(.*)$/s.exec(text(sealed))?.[1];
  return value !== undefined && (JSON.parse(Buffer.from(value, "base64url").toString()) as unknown[])[1] === "native";
}

const CALL_ITEMS: ReadonlySet<string> = new Set(["function_call", "custom_tool_call"]);
const WORD_ITEMS: ReadonlySet<string> = new Set(["message", "reasoning"]);
const THOUGHT_DELTA = /^response\.reasoning_(?:summary_)?text\.delta$/;
