import type { ScriptedDialect } from "../testing/sampled-dialects.ts";

/** What a client makes of a response, by its own reading of the protocol. */
export interface ReadAnswer {
  text: string;
  toolArguments: string | undefined;
  /** Number of proper ends. */
  terminals: number;
  errors: number;
  prompt: number | undefined;
  completion: number | undefined;
  /** The id by which later requests may refer to it, if the protocol has one. */
  id: string | undefined;
  /** Number of numbered events. */
  events: number;
  /** Item ids by position, and which parts of them have ended. */
  items: Map<number, { id: string; ends: Set<string> }>;
  /** Content that no client should receive. */
  wrong: string[];
}

/** JSON, as far as a reader needs it. */
// biome-ignore lint/suspicious/noExplicitAny: a reader of answers looks into what may be anything, and throws where it is not what it should be
type Json = any;

const nothing = (): ReadAnswer => ({
  text: "",
  toolArguments: undefined,
  terminals: 0,
  errors: 0,
  prompt: undefined,
  completion: undefined,
  id: undefined,
  events: 0,
  items: new Map(),
  wrong: [],
});

interface Reader {
  whole(body: Json, answer: ReadAnswer): void;
  /** One event; `[DONE]` is passed as text. */
  event(value: Json, answer: ReadAnswer): void;
}

const chat: Reader = {
  whole: ({ choices, usage, object }, answer) => {
    if (object !== "chat.completion" || choices.length !== 1) answer.wrong.push("no completion with one choice");
    const [{ message, finish_reason }] = choices;
    answer.text = message.content ?? "";
    for (const call of message.tool_calls ?? []) addArguments(answer, call.function.arguments);
    if (finish_reason === (message.tool_calls ? "tool_calls" : "stop")) answer.terminals++;
    chatUsage(usage, answer);
  },
  event: (value, answer) => {
    if (value === "[DONE]") {
      answer.terminals++;
      return;
    }
    chatUsage(value.usage, answer);
    for (const { delta } of value.choices) {
      answer.text += delta.content ?? "";
      for (const call of delta.tool_calls ?? []) addArguments(answer, call.function?.arguments ?? "");
    }
  },
};

function chatUsage(usage: Json, answer: ReadAnswer): void {
  if (!usage) return;
  answer.prompt = usage.prompt_tokens;
  answer.completion = usage.completion_tokens;
}

const messages: Reader = {
  whole: ({ type, content, stop_reason, usage }, answer) => {
    if (type !== "message") answer.wrong.push("no message");
    for (const block of content) {
      if (block.type === "text") answer.text += block.text;
      if (block.type === "tool_use") addArguments(answer, JSON.stringify(block.input));
    }
    if (stop_reason === (answer.toolArguments === undefined ? "end_turn" : "tool_use")) answer.terminals++;
    messagesUsage(usage, answer);
  },
  event: (value, answer) => {
    switch (value.type) {
      case "message_start":
        messagesUsage(value.message.usage, answer);
        break;
      case "content_block_delta":
        answer.text += value.delta.text ?? "";
        if (value.delta.type === "input_json_delta") addArguments(answer, value.delta.partial_json);
        break;
      case "message_delta":
        messagesUsage(value.usage, answer);
        break;
      case "message_stop":
        answer.terminals++;
        break;
    }
  },
};

function messagesUsage(usage: Json, answer: ReadAnswer): void {
  if (!usage) return;
  // The end of a stream need not repeat the prompt usage from its beginning.
  if (usage.input_tokens !== undefined)
    answer.prompt =
      usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
  answer.completion = usage.output_tokens;
}

const genai: Reader = {
  whole: (body, answer) => genai.event(body, answer),
  event: ({ candidates, usageMetadata }, answer) => {
    for (const { content, finishReason } of candidates ?? []) {
      for (const part of content?.parts ?? []) {
        answer.text += part.text ?? "";
        if (part.functionCall) addArguments(answer, JSON.stringify(part.functionCall.args));
      }
      if (finishReason) answer.terminals++;
    }
    if (!usageMetadata) return;
    answer.prompt = usageMetadata.promptTokenCount;
    answer.completion = usageMetadata.candidatesTokenCount;
  },
};

function addArguments(answer: ReadAnswer, text: string): void {
  answer.toolArguments = (answer.toolArguments ?? "") + text;
}

const responses: Reader = {
  whole: ({ object, status, output, usage, id }, answer) => {
    if (object !== "response") answer.wrong.push("no response");
    answer.id = id;
    for (const item of output) {
      if (item.type === "message") answer.text += item.content.map((part: Json) => part.text).join("");
      if (item.type === "function_call") addArguments(answer, item.arguments);
    }
    if (status === "completed") answer.terminals++;
    responsesUsage(usage, answer);
  },
  event: (value, answer) => {
    if (value.sequence_number !== answer.events++)
      answer.wrong.push(`${value.type} is number ${value.sequence_number}`);
    readPlace(value, answer);
    switch (value.type) {
      case "response.output_text.delta":
        answer.text += value.delta;
        break;
      case "response.function_call_arguments.delta":
        addArguments(answer, value.delta);
        break;
      case "response.completed": {
        answer.terminals++;
        const whole = nothing();
        responses.whole(value.response, whole);
        if (whole.text !== answer.text) answer.wrong.push("the whole answer is not what was streamed");
        if (whole.id !== answer.id) answer.wrong.push(`the answer is ${whole.id}, and was ${answer.id}`);
        const ids = value.response.output.map((item: Json) => item.id).join();
        const told = [...answer.items.values()].map(({ id }) => id).join();
        if (ids !== told) answer.wrong.push(`the items are ${ids}, and were ${told}`);
        responsesUsage(value.response.usage, answer);
      }
    }
  },
};

/** One position has one item id, and no part of it ends twice. */
function readPlace({ type, output_index: place, item_id, item, response }: Json, answer: ReadAnswer): void {
  if (type === "response.created") answer.id = response.id;
  if (place === undefined) return;
  const id = item_id ?? item.id;
  if (type === "response.output_item.added") {
    if (answer.items.has(place)) answer.wrong.push(`item ${place} begins twice`);
    answer.items.set(place, { id, ends: new Set() });
    return;
  }
  const known = answer.items.get(place);
  if (known?.id !== id) answer.wrong.push(`${type} of ${id} at the place of ${known?.id}`);
  if (known?.ends.has("response.output_item.done") || (type.endsWith(".done") && known?.ends.has(type)))
    answer.wrong.push(`${type} of ${id}, which had ended`);
  if (type.endsWith(".done")) known?.ends.add(type);
}

function responsesUsage(usage: Json, answer: ReadAnswer): void {
  if (!usage) return;
  answer.prompt = usage.input_tokens;
  answer.completion = usage.output_tokens;
}

const READERS: Readonly<Record<ScriptedDialect, Reader>> = { chat, messages, genai, responses };

const isError = (value: Json): boolean => value?.error !== undefined && value.error !== null;

/** A non-streamed response, or an error in place of one. */
export function readWhole(dialect: ScriptedDialect, status: number, text: string): ReadAnswer {
  const answer = nothing();
  try {
    const body: Json = JSON.parse(text);
    if (isError(body)) answer.errors++;
    if ((status === 200) === isError(body)) answer.wrong.push(`HTTP ${status} with ${text.slice(0, 200)}`);
    if (status === 200) READERS[dialect].whole(body, answer);
    else if (typeof body.error.message !== "string") answer.wrong.push("an error without a message");
  } catch (error) {
    answer.wrong.push(`HTTP ${status}, not readable (${String(error)}): ${text.slice(0, 200)}`);
  }
  return answer;
}

/** A stream, as far as it was read. `isEnded`: it was read to its end. */
export function readStream(dialect: ScriptedDialect, text: string, isEnded: boolean): ReadAnswer {
  const answer = nothing();
  const frames = text.split("\n\n");
  const rest = frames.pop() ?? "";
  for (const frame of frames) {
    const data = dataOf(frame);
    if (data === undefined) continue;
    // An error is sent twice, for clients that only look there (R1).
    if (dialect === "responses" && answer.errors === 1 && data.includes('"type":"response.failed"')) continue;
    if (answer.terminals > 0 || answer.errors > 0) answer.wrong.push(`an event after the end: ${data.slice(0, 100)}`);
    try {
      const value: Json = data === "[DONE]" ? data : JSON.parse(data);
      if (isError(value)) answer.errors++;
      else READERS[dialect].event(value, answer);
    } catch (error) {
      answer.wrong.push(`an event that is not readable (${String(error)}): ${data.slice(0, 100)}`);
    }
  }
  // In genai an error is repeated as bare JSON, because some readers only look there (sdks 1.5).
  const isToldAgain = dialect === "genai" && answer.errors === 1 && rest.startsWith('{"error"');
  if (isEnded && rest !== "" && !isToldAgain)
    answer.wrong.push(`the stream ends in the middle of an event: ${rest.slice(0, 100)}`);
  return answer;
}

/** The data of a frame; undefined for a comment or a ping. */
function dataOf(frame: string): string | undefined {
  let data: string | undefined;
  for (const line of frame.split("\n")) {
    if (line === "event: ping") return undefined;
    if (line.startsWith("data: ")) data = (data === undefined ? "" : `${data}\n`) + line.slice(6);
  }
  return data;
}
