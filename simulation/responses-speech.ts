import { type Speech, type SpokenEvents, type SpokenUsage, TOOL_NAME, type Wire } from "./speech.ts";

const MODEL = "upstream-model";
const RESPONSE = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: MODEL,
  error: null,
  incomplete_details: null,
};
const MESSAGE = { id: "msg_1", type: "message", role: "assistant" };
const CALL = { id: "fc_1", type: "function_call", call_id: "call_1", name: TOOL_NAME };

const usageOf = ({ input, cached, output }: SpokenUsage) => ({
  input_tokens: input + cached,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: input + cached + output,
});

const messageOf = (text: string) => ({
  ...MESSAGE,
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});

function answerOf({ texts, toolArguments, usage }: Speech): object {
  return {
    ...RESPONSE,
    status: "completed",
    output: [
      messageOf(texts.join("")),
      ...(toolArguments === undefined ? [] : [{ ...CALL, status: "completed", arguments: toolArguments }]),
    ],
    usage: usage === undefined ? null : usageOf(usage),
  };
}

/** What a host of the Responses protocol writes. */
export const responses: Wire = {
  whole: answerOf,
  events: (speech): SpokenEvents => {
    const { texts, toolArguments } = speech;
    const events: string[] = [];
    const say = (type: string, more: object): void => {
      const data = { type: `response.${type}`, sequence_number: events.length, ...more };
      events.push(`event: response.${type}\ndata: ${JSON.stringify(data)}\n\n`);
    };
    const begun = { response: { ...RESPONSE, status: "in_progress", output: [], usage: null } };
    const place = { item_id: MESSAGE.id, output_index: 0, content_index: 0 };
    say("created", begun);
    say("in_progress", begun);
    say("output_item.added", { output_index: 0, item: { ...MESSAGE, status: "in_progress", content: [] } });
    say("content_part.added", { ...place, part: { type: "output_text", text: "", annotations: [] } });
    const contentFrom = events.length;
    for (const delta of texts) say("output_text.delta", { ...place, delta });
    const item = messageOf(texts.join(""));
    say("output_text.done", { ...place, text: texts.join("") });
    say("content_part.done", { ...place, part: item.content[0] });
    say("output_item.done", { output_index: 0, item });
    if (toolArguments !== undefined) {
      const called = { item_id: CALL.id, output_index: 1 };
      const middle = toolArguments.length >> 1;
      say("output_item.added", { output_index: 1, item: { ...CALL, status: "in_progress", arguments: "" } });
      say("function_call_arguments.delta", { ...called, delta: toolArguments.slice(0, middle) });
      say("function_call_arguments.delta", { ...called, delta: toolArguments.slice(middle) });
      say("function_call_arguments.done", { ...called, arguments: toolArguments });
      const done = { ...CALL, status: "completed", arguments: toolArguments };
      say("output_item.done", { output_index: 1, item: done });
    }
    const contentUntil = events.length;
    say("completed", { response: answerOf(speech) });
    return { events, contentFrom, contentUntil, usageUntil: contentUntil + 1 };
  },
  error: (status, message) => ({ error: { message, type: "server_error", code: String(status), param: null } }),
  errorEvent: (message) => `data: ${JSON.stringify({ type: "error", error: { message, type: "server_error" } })}\n\n`,
};
