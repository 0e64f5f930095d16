import { arrayAt, type JsonObject } from "../../../base/json.ts";
import { completeTools } from "./complete-tools.ts";
import { encodeShell } from "./response-shell.ts";

/** Providers without a value send null for these numbers, which the schema does not allow. */
const NUMBERS: ReadonlySet<string> = new Set([
  "temperature",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "top_logprobs",
]);

/** Members that are never made up, because they are the response itself. `user` is the vendor's own. */
const NOT_FILLED: ReadonlySet<string> = new Set(["id", "created_at", "status", "model", "output", "store", "user"]);

const EMPTY = { id: "", model: "", createdAtSeconds: 0, status: "completed", store: false } as const;
const MEMBERS: readonly string[] = Object.keys(encodeShell({}, EMPTY)).filter((key) => !NOT_FILLED.has(key));

/** The required members that a provider's response lacks. */
export function missingMembers(response: JsonObject, request: JsonObject): JsonObject {
  const lacks = (key: string): boolean => response[key] === undefined || (response[key] === null && NUMBERS.has(key));
  const missing = MEMBERS.filter(lacks);
  const tools = arrayAt(response, "tools");
  const whole = completeTools(tools);
  const repeated = whole === tools ? {} : { tools: whole };
  if (missing.length === 0) return repeated;
  const shell = encodeShell(request, EMPTY);
  return { ...Object.fromEntries(missing.map((key) => [key, shell[key]])), ...repeated };
}
