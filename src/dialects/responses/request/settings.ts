import type { CallSettings, Extra } from "../../../canon/call.ts";
import type { Fields } from "../../../canon/fields.ts";
import { takeCacheOptions } from "../../request/cache-breakpoints.ts";

const NUMBERS = [
  ["maxOutputTokens", "max_output_tokens"],
  ["temperature", "temperature"],
  ["topP", "top_p"],
] as const satisfies readonly (readonly [keyof CallSettings, string])[];

/** The `include` value that requests log probabilities. Their number is in a separate field. */
const LOGPROBS = "message.output_text.logprobs";

/** Included in every response, requested or not. */
const ALWAYS_GIVEN: ReadonlySet<string> = new Set(["reasoning.encrypted_content", "web_search_call.action.sources"]);

interface DecodedSettings {
  settings: CallSettings;
  paths: Partial<Record<keyof CallSettings, string>>;
  /** What is requested in addition, and exists only in this protocol. */
  include: readonly unknown[];
  extras: readonly Extra[];
}

/** `text`: the object of that name, which contains the verbosity. Without tools, settings for calls are ignored (R16). */
export function decodeSettings(body: Fields, text: Fields, hasTools: boolean): DecodedSettings {
  const settings: CallSettings = {};
  const paths: DecodedSettings["paths"] = {};
  const set = <K extends keyof CallSettings>(key: K, value: CallSettings[K] | undefined, path: string) => {
    if (value === undefined) return;
    settings[key] = value;
    paths[key] = path;
  };
  for (const [key, field] of NUMBERS) set(key, body.number(field), field);
  const asked = body.array("include") ?? [];
  const alternatives = body.number("top_logprobs");
  if (alternatives !== undefined) set("logprobs", alternatives, "top_logprobs");
  else if (asked.includes(LOGPROBS)) set("logprobs", 0, "include");
  set("verbosity", text.string("verbosity") as CallSettings["verbosity"], "text.verbosity");
  const parallel = body.boolean("parallel_tool_calls");
  if (hasTools) set("parallelTools", parallel, "parallel_tool_calls");
  // The newer of the two names is used, and the other stays unread.
  const user = body.string("safety_identifier");
  if (user !== undefined) set("userId", user, "safety_identifier");
  else set("userId", body.string("user"), "user");
  const options = takeCacheOptions(body);
  const include = asked.filter((word) => word !== LOGPROBS && !(typeof word === "string" && ALWAYS_GIVEN.has(word)));
  return {
    settings: { ...settings, ...options.settings },
    paths: { ...paths, ...options.paths },
    include,
    extras: options.extras,
  };
}
