import { expect, test } from "bun:test";
import { readRetryAfter } from "../wire/http/retry-after.ts";
import { failureToError } from "./upstream-failure.ts";

const NOW = Date.parse("Sun, 06 Nov 1994 08:49:37 GMT");

test.each([
  ["7", 7],
  [" 0.5 ", 0.5],
  ["0", 0],
  ["Sun, 06 Nov 1994 08:49:59 GMT", 22],
  ["Sun, 06 Nov 1994 08:40:00 GMT", 0],
  ["Sunday, 06-Nov-94 08:49:59 GMT", 22],
  ["-3", undefined],
  ["soon", undefined],
  ["1", 1],
  ["", undefined],
  [null, undefined],
])("H19: retry-after %j", (header, seconds) => expect(readRetryAfter(header, NOW)).toBe(seconds));

test.each([
  [429, undefined, 5],
  [429, 7, 7],
  [429, 3600, 60],
  [503, 7, 7],
  [529, 0, 1],
  [503, undefined, undefined],
  [500, 7, 7],
  [400, 7, undefined],
  [401, 7, undefined],
])("H19: HTTP %d with a retry-after of %p gives the client %p", (status, reported, seconds) => {
  expect(failureToError({ status, message: "no", retryAfterSeconds: reported }).retryAfterSeconds).toBe(seconds);
});

/** Each host's message: two recorded, the others as users reported them. */
const OVERFLOWS: Readonly<Record<string, string>> = {
  "anthropic (recorded)": "prompt is too long: 3333404 tokens > 200000 maximum",
  "anthropic, with its answer":
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease them",
  "bedrock (recorded)":
    "The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.",
  "bedrock, Claude": "The model returned the following errors: Input is too long for requested model.",
  "bedrock, Claude across regions":
    "The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum",
  "bedrock, Llama": "This model's maximum context length is 8192 tokens. Please reduce the length of the prompt",
  "gemini and vertex": "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
  openai: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
  "openai, Responses": "Your input exceeds the context window of this model. Please adjust your input and try again.",
  "azure-openai": "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
  "x-ai": "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  groq: "Please reduce the length of the messages or completion.",
  openrouter: "This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens.",
  "openrouter, some hosts": "Input length 265330 exceeds the maximum allowed input length of 262144 tokens.",
  mistral: "Prompt contains 33000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
  cohere: "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292.",
  deepseek: "This model's maximum context length is 65536 tokens. However, you requested 69648 tokens.",
  qwen: "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]",
  "z-ai": "Prompt exceeds max length",
  moonshot: "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
  minimax: "invalid params, context window exceeds limit (2013)",
  volcengine: "InvalidParameter: Total tokens of image and text exceed max message tokens. Request id: 0217",
  baidu: "Prompt tokens too long",
  together: "The input (300000 tokens) is longer than the model's context length (200000 tokens).",
  fireworks: "The prompt is too long: 210000, model maximum context length: 131071",
  vllm: "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
  "vllm, newer": "The engine prompt length 9000 exceeds the max_model_len 8192. The maximum model length is 8192.",
  "llama.cpp": "the request exceeds the available context size, try increasing it",
  "LM Studio": "The number of tokens to keep from the initial prompt is greater than the context length.",
  ollama: "prompt too long; exceeded max context length by 17 tokens",
  TGI: "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000.",
  copilot: "prompt token count of 5000 exceeds the limit of 4096",
};

test.each(Object.entries(OVERFLOWS))(
  "R28: a prompt that is too long gets the one code that clients know: %s",
  (_host, message) => {
    expect(failureToError({ status: 400, message }).code).toBe("context_length_exceeded");
    expect(failureToError({ status: 413, message }).code).toBe("context_length_exceeded");
  },
);

test.each(["exceed_context_size_error", "context_window_exceeded"])("R28: a host's code %s means the same", (code) => {
  expect(failureToError({ status: 400, message: "no", code }).code).toBe("context_length_exceeded");
});

test("R28: other messages about tokens or lengths do not get that code", () => {
  for (const message of [
    "max_tokens is too long",
    "The context is empty.",
    "Input is not an array.",
    "Range of max_tokens should be [1, 8192]",
    "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 8192.",
    "Request exceeds the maximum size",
  ])
    expect(failureToError({ status: 400, message }).code).toBeUndefined();
  expect(failureToError({ status: 429, message: "Too many tokens, please wait" }).code).toBeUndefined();
});
