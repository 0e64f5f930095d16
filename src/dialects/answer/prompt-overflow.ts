/**
 * Messages with which hosts reject a prompt that is too long for the model. Few have a code for it, and no two use the same words
 * (providers 1.9).
 */
const OVERFLOW: readonly RegExp[] = [
  /\bprompt (?:is |tokens )?too long\b/,
  /\binput (?:prompt |length )?(?:is )?too long\b/,
  /\bcontext[ _](?:length|window|size|limit)\b.*\bexceed|\bexceed\w*\b.*\bcontext[ _](?:length|window|size|limit)\b/,
  /\bmaximum (?:context|prompt|model) length\b/,
  /\bmaximum allowed input length\b/,
  /\b(?:longer|greater) than the (?:model'?s )?context length\b/,
  /\bthe configured context size is\b/,
  /\binput token(?: count|s)\b.*\bexceed/,
  /\bprompt token count\b.*\bexceeds\b/,
  /\bexceed\w* max message tokens\b/,
  /\bexceeded model token limit\b/,
  /\bprompt exceeds max(?:imum)? length\b/,
  /\brange of input length should be\b/,
  /\breduce the length of the (?:messages|prompt)\b/,
  /\binputs`? must have less than \d+ tokens\b/,
  /\btoo many (?:input )?tokens\b/,
];
const TOO_LONG = new RegExp(OVERFLOW.map(({ source }) => source).join("|"), "i");

/** Messages with the same words that are about the output limit, where a shorter conversation does not help. */
const OUTPUT_LIMIT = /\bmax(?:imum)?[ _](?:output[ _]|completion[ _])?tokens must be\b|\bthe maximum output\b/i;

/** The codes of hosts that have one. */
const OVERFLOW_CODES: ReadonlySet<string> = new Set([
  "context_length_exceeded",
  "context_window_exceeded",
  "exceed_context_size_error",
  "model_context_window_exceeded",
  "model_max_prompt_tokens_exceeded",
]);

/** Hosts that repeat the request in an error do so after their own message. */
const LONGEST_SENTENCE = 2_000;

/** Clients shorten the conversation when they get this code (R28). */
export const OVERFLOW_CODE = "context_length_exceeded";

/** Whether a host says that the prompt is too long for its model. */
export function tellsOverflow(words: string | undefined, code: string | undefined): boolean {
  if (code !== undefined && OVERFLOW_CODES.has(code)) return true;
  const sentence = words?.slice(0, LONGEST_SENTENCE) ?? "";
  return TOO_LONG.test(sentence) && !OUTPUT_LIMIT.test(sentence);
}
