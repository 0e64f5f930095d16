/**
 * What the Open Responses specification (openresponses.org, 2026-04-24) requires of a response, its items and its
 * events, as our own table: member by member, the allowed kinds of values. Unlisted members are allowed too.
 */

type Json = Record<string, unknown>;
type Check = (value: unknown, at: string) => string[];

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const kind =
  (name: string, holds: (value: unknown) => boolean): Check =>
  (value, at) =>
    holds(value) ? [] : [`${at} is ${JSON.stringify(value)?.slice(0, 60)}, not ${name}`];

const text = kind("a text", (value) => typeof value === "string");
const number = kind("a number", (value) => typeof value === "number");
const integer = kind("an integer", Number.isInteger);
const flag = kind("true or false", (value) => typeof value === "boolean");
const anything = kind("there", (value) => value !== undefined);
const object = kind("an object", isObject);
const oneOf = (...words: string[]) => kind(words.join(" or "), (value) => words.includes(value as string));

const orNull =
  (check: Check): Check =>
  (value, at) =>
    value === null ? [] : check(value, at);

const optional =
  (check: Check): Check =>
  (value, at) =>
    value === undefined ? [] : check(value, at);

const listOf =
  (check: Check): Check =>
  (value, at) =>
    Array.isArray(value) ? value.flatMap((one, index) => check(one, `${at}[${index}]`)) : [`${at} is not a list`];

const shape =
  (members: Record<string, Check>): Check =>
  (value, at) =>
    isObject(value)
      ? Object.entries(members).flatMap(([name, check]) => check(value[name], `${at}.${name}`))
      : [`${at} is not an object`];

/** By its `type`; kinds that the specification does not know are extensions, and not looked at. */
const byType =
  (kinds: Record<string, Check>): Check =>
  (value, at) => {
    const type = isObject(value) ? value["type"] : undefined;
    if (typeof type !== "string") return [`${at} has no type`];
    return kinds[type]?.(value, at) ?? [];
  };

const logprobs = optional(
  listOf(shape({ token: text, logprob: number, bytes: listOf(integer), top_logprobs: listOf(object) })),
);

const part = byType({
  output_text: shape({
    text,
    annotations: listOf(
      byType({ url_citation: shape({ url: text, title: text, start_index: integer, end_index: integer }) }),
    ),
    logprobs,
  }),
  refusal: shape({ refusal: text }),
  summary_text: shape({ text }),
  reasoning_text: shape({ text }),
});

const status = oneOf("in_progress", "completed", "incomplete");

const item = byType({
  message: shape({
    id: text,
    status,
    role: oneOf("user", "assistant", "system", "developer"),
    content: listOf(part),
  }),
  function_call: shape({ id: text, call_id: text, name: text, arguments: text, status }),
  reasoning: shape({
    id: text,
    summary: listOf(part),
    content: optional(listOf(part)),
    encrypted_content: optional(text),
  }),
});

const usage = shape({
  input_tokens: integer,
  output_tokens: integer,
  total_tokens: integer,
  // The second is the vendor's, whose SDK types require it.
  input_tokens_details: shape({ cached_tokens: integer, cache_write_tokens: integer }),
  output_tokens_details: shape({ reasoning_tokens: integer }),
});

const response = shape({
  id: text,
  object: oneOf("response"),
  created_at: integer,
  completed_at: orNull(integer),
  status: text,
  incomplete_details: orNull(shape({ reason: text })),
  model: text,
  previous_response_id: orNull(text),
  instructions: orNull(text),
  output: listOf(item),
  error: orNull(shape({ code: text, message: text })),
  tools: listOf(
    byType({
      function: shape({ name: text, description: orNull(text), parameters: orNull(object), strict: orNull(flag) }),
    }),
  ),
  tool_choice: anything,
  truncation: oneOf("auto", "disabled"),
  parallel_tool_calls: flag,
  text: shape({ format: byType({ json_schema: shape({ name: text, description: orNull(text), strict: flag }) }) }),
  top_p: number,
  presence_penalty: number,
  frequency_penalty: number,
  top_logprobs: integer,
  temperature: number,
  reasoning: orNull(shape({ effort: orNull(text), summary: orNull(text) })),
  usage: orNull(usage),
  max_output_tokens: orNull(integer),
  max_tool_calls: orNull(integer),
  store: flag,
  background: flag,
  service_tier: text,
  metadata: anything,
  safety_identifier: orNull(text),
  prompt_cache_key: orNull(text),
});

const ofItem = { item_id: text, output_index: integer };
const ofPart = { ...ofItem, content_index: integer };
const ofSummary = { ...ofItem, summary_index: integer };

const EVENTS: Record<string, Record<string, Check>> = {
  "response.created": { response },
  "response.queued": { response },
  "response.in_progress": { response },
  "response.completed": { response },
  "response.failed": { response },
  "response.incomplete": { response },
  "response.output_item.added": { output_index: integer, item },
  "response.output_item.done": { output_index: integer, item },
  "response.content_part.added": { ...ofPart, part },
  "response.content_part.done": { ...ofPart, part },
  "response.output_text.delta": { ...ofPart, delta: text, logprobs },
  "response.output_text.done": { ...ofPart, text, logprobs },
  "response.output_text.annotation.added": { ...ofPart, annotation_index: integer, annotation: object },
  "response.refusal.delta": { ...ofPart, delta: text },
  "response.refusal.done": { ...ofPart, refusal: text },
  "response.reasoning_summary_part.added": { ...ofSummary, part },
  "response.reasoning_summary_part.done": { ...ofSummary, part },
  "response.reasoning_summary_text.delta": { ...ofSummary, delta: text },
  "response.reasoning_summary_text.done": { ...ofSummary, text },
  "response.function_call_arguments.delta": { ...ofItem, delta: text },
  // Only the vendor's specification has the name.
  "response.function_call_arguments.done": { ...ofItem, arguments: text, name: text },
  error: { error: shape({ type: text, code: orNull(text), message: text, param: orNull(text) }) },
};

/** How a complete response violates the specification. */
export const breachesOfResponse = (value: unknown): string[] => response(value, "response");

/** The same of one event. */
export function breachesOfEvent(event: Json): string[] {
  const type = String(event["type"]);
  const members = EVENTS[type];
  return members === undefined ? [] : shape({ sequence_number: integer, ...members })(event, type);
}
