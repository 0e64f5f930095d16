import { withoutAbsent } from "../../src/base/without-absent.ts";
import { wire } from "../upstream-wire.ts";

const RESPONSE = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "upstream-model",
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: "auto",
  tools: [],
  top_p: 1,
};
const ITEM = { id: "msg_1", type: "message", role: "assistant" };
const PLACE = { item_id: ITEM.id, output_index: 0, content_index: 0 };

/** So many tokens, as a host of the Responses protocol reports them. */
export const responsesUsage = (input: number, output: number, reasoning = 0): object => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});

const message = (text: string) => ({
  ...ITEM,
  status: "completed",
  content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
});

/** A non-streamed response with only a text; without usage if it is undefined. */
export const responsesAnswer = (text: string, usage: object | undefined): object => ({
  ...RESPONSE,
  status: "completed",
  output: [message(text)],
  ...withoutAbsent({ usage }),
});

/** A stream of one text, event by event. */
export class ResponsesScript {
  #sequence = 0;
  #text = "";

  event(type: string, more: object = {}): string {
    return wire.event({ type: `response.${type}`, sequence_number: this.#sequence++, ...more });
  }

  begin(): string {
    const response = { ...RESPONSE, status: "in_progress", output: [], usage: null };
    return (
      this.event("created", { response }) +
      this.event("in_progress", { response }) +
      this.event("output_item.added", { output_index: 0, item: { ...ITEM, status: "in_progress", content: [] } }) +
      this.event("content_part.added", { ...PLACE, part: { type: "output_text", text: "", annotations: [] } })
    );
  }

  delta(delta: string): string {
    this.#text += delta;
    return this.event("output_text.delta", { ...PLACE, delta, logprobs: [] });
  }

  /** The ends of the text and of its item. */
  close(): string {
    const item = message(this.#text);
    return (
      this.event("output_text.done", { ...PLACE, text: this.#text, logprobs: [] }) +
      this.event("content_part.done", { ...PLACE, part: item.content[0] }) +
      this.event("output_item.done", { output_index: 0, item })
    );
  }

  completed(usage: object | undefined): string {
    return this.event("completed", { response: responsesAnswer(this.#text, usage) });
  }

  /** An end for another reason. */
  incomplete(reason: string, usage: object | undefined): string {
    const response = { ...responsesAnswer(this.#text, usage), status: "incomplete", incomplete_details: { reason } };
    return this.event("incomplete", { response });
  }
}
