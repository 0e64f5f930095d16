import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../src/base/json.ts";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { explainMismatch } from "../../src/dialects/reading/explain-mismatch.ts";
import type { SchemaNode } from "../../src/dialects/reading/schema-node.ts";
import { ChatCompletion, ChatCompletionChunk } from "../../src/server/openapi/chat-answers.ts";
import { GenerateContentAnswer } from "../../src/server/openapi/genai-answers.ts";
import { InteractionAnswer, InteractionStreamEvent } from "../../src/server/openapi/interactions-answers.ts";
import { MessageAnswer, MessageStreamEvent } from "../../src/server/openapi/messages-answers.ts";
import { ResponseAnswer, ResponseStreamEvent } from "../../src/server/openapi/responses-answers.ts";
import { readFrames } from "../../src/wire/sse.ts";

interface Form {
  schema: TSchema;
  check: (value: unknown) => boolean;
}

const form = (schema: TSchema): Form => {
  const compiled = Compile(schema);
  return { schema, check: (value) => compiled.Check(value) };
};

const WHOLE: Readonly<Record<DialectName, Form>> = {
  chat: form(ChatCompletion),
  messages: form(MessageAnswer),
  genai: form(GenerateContentAnswer),
  responses: form(ResponseAnswer),
  interactions: form(InteractionAnswer),
};
const CHUNK: Readonly<Record<DialectName, Form>> = {
  chat: form(ChatCompletionChunk),
  messages: form(MessageStreamEvent),
  genai: form(GenerateContentAnswer),
  responses: form(ResponseStreamEvent),
  interactions: form(InteractionStreamEvent),
};

/** What is wrong with a response in a client's protocol; undefined if nothing is. */
export function answerProblem(dialect: DialectName, stream: boolean, text: string): string | undefined {
  if (!stream) return mismatch(WHOLE[dialect], JSON.parse(text)) ?? (text.includes('"error":{') ? text : undefined);
  const frames = readFrames(text);
  const data = frames.map(({ data: own }) => own ?? "");
  if ((dialect === "chat" || dialect === "interactions") && data.pop() !== "[DONE]")
    return "the stream does not end with [DONE]";
  const chunks = data.map((own) => JSON.parse(own) as JsonObject);
  for (const chunk of chunks) {
    const problem = mismatch(CHUNK[dialect], chunk);
    if (problem !== undefined) return `${problem} in ${JSON.stringify(chunk)}`;
  }
  return ORDER[dialect](chunks);
}

function mismatch({ schema, check }: Form, value: unknown): string | undefined {
  if (isObject(value) && value["error"] !== undefined && value["error"] !== null)
    return `an error: ${JSON.stringify(value)}`;
  if (check(value)) return undefined;
  const found = explainMismatch(schema as SchemaNode, value);
  return `${found?.path} ${found?.problem}`;
}

/** What no schema expresses: the order of chunks. */
const ORDER: Readonly<Record<DialectName, (chunks: readonly JsonObject[]) => string | undefined>> = {
  chat: (chunks) => {
    const choices = chunks.flatMap((chunk) => arrayAt(chunk, "choices"));
    const ends = choices.filter((choice) => stringAt(choice, "finish_reason") !== undefined);
    if (ends.length !== 1) return `${ends.length} finish reasons`;
    if (choices.at(-1) !== ends[0]) return "something follows the finish reason";
    const calls = new Set<number>();
    for (const choice of choices) {
      for (const call of arrayAt(objectAt(choice, "delta"), "tool_calls")) {
        const index = numberAt(call, "index") ?? -1;
        const begins = stringAt(call, "id") !== undefined;
        if (begins === calls.has(index)) return `the call ${index} ${begins ? "begins twice" : "has no beginning"}`;
        calls.add(index);
      }
    }
    return undefined;
  },
  messages: (chunks) => {
    const types = chunks.map((chunk) => stringAt(chunk, "type") ?? "").filter((type) => type !== "ping");
    // Blocks one after another, each complete, between the start of the message and its end.
    const blocks = "(?:content_block_start (?:content_block_delta )*content_block_stop )*";
    if (
      !new RegExp(`^message_start ${blocks}message_delta message_stop $`).test(types.map((type) => `${type} `).join(""))
    )
      return `events in the order ${types.join(", ")}`;
    let next = 0;
    for (const chunk of chunks) {
      const index = numberAt(chunk, "index");
      if (index !== undefined && index !== next) return `block ${index} where ${next} is open`;
      if (stringAt(chunk, "type") === "content_block_stop") next += 1;
    }
    return undefined;
  },
  genai: (chunks) => {
    const ends = chunks.filter((chunk) =>
      arrayAt(chunk, "candidates").some((candidate) => stringAt(candidate, "finishReason") !== undefined),
    );
    if (ends.length !== 1 || chunks.at(-1) !== ends[0])
      return `${ends.length} finish reasons, or not in the last chunk`;
    return undefined;
  },
  interactions: (chunks) => {
    const types = chunks.map((chunk) => stringAt(chunk, "event_type") ?? "");
    // Steps one after another, each complete.
    const steps = "(?:step.start (?:step.delta )*step.stop )*";
    const order = `^interaction.created interaction.status_update ${steps}interaction.completed$`;
    if (!new RegExp(order).test(types.join(" "))) return `events in the order ${types.join(", ")}`;
    let next = 0;
    for (const chunk of chunks) {
      const index = numberAt(chunk, "index");
      if (index !== undefined && index !== next) return `step ${index} where ${next} is open`;
      if (stringAt(chunk, "event_type") === "step.stop") next += 1;
    }
    return undefined;
  },
  responses: (chunks) => {
    const types = chunks.map((chunk) => (stringAt(chunk, "type") ?? "").replace("response.", ""));
    if (!/^created in_progress .*(?:completed|incomplete)$/.test(types.join(" ")))
      return `events in the order ${types.join(", ")}`;
    let open: number | undefined;
    let next = 0;
    for (const [index, chunk] of chunks.entries()) {
      if (numberAt(chunk, "sequence_number") !== index)
        return `number ${chunk["sequence_number"]} where ${index} is due`;
      const place = numberAt(chunk, "output_index");
      if (types[index] === "output_item.added") {
        if (open !== undefined || place !== next) return `item ${place} where ${open ?? next} is open or due`;
        open = next++;
      } else if (place !== undefined && place !== open) return `${types[index]} of item ${place}, which is not open`;
      if (types[index] === "output_item.done") open = undefined;
    }
    const done = chunks.filter((_, index) => types[index] === "output_item.done").map(({ item }) => item);
    const told = arrayAt(objectAt(chunks.at(-1), "response"), "output");
    return JSON.stringify(told) === JSON.stringify(done) ? undefined : "the answer is not the items that were done";
  },
};
