import { createHash } from "node:crypto";
import { isObject, type JsonObject, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { FoundState } from "../stored-answers.ts";
import { inputOf } from "./expand-items.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** How the ids of items begin that came without one. */
const PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
};

/** One page of the items that an answer was made from, the latest first unless it is asked otherwise. */
export function encodeInput(answerId: string, turns: FoundState["turns"], query: URLSearchParams): string {
  const limit = limitOf(query.get("limit"));
  const all = inputOf(turns).map((text, index) => listed(JSON.parse(text) as unknown, answerId, index));
  const items = orderOf(query.get("order")) === "asc" ? all : all.reverse();
  const after = query.get("after");
  const from = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1;
  if (after !== null && from === 0) refuse("after", `names no item of this response: "${after.slice(0, 80)}"`);
  const data = items.slice(from, from + limit);
  return JSON.stringify({
    object: "list",
    data,
    first_id: data[0]?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: from + limit < items.length,
  });
}

function limitOf(asked: string | null): number {
  if (asked === null) return DEFAULT_LIMIT;
  const limit = Number(asked);
  if (!/^\d+$/.test(asked) || limit < 1 || limit > MAX_LIMIT) refuse("limit", `must be 1 to ${MAX_LIMIT}`);
  return limit;
}

function orderOf(asked: string | null): "asc" | "desc" {
  if (asked === null || asked === "desc") return "desc";
  if (asked === "asc") return "asc";
  return refuse("order", "must be asc or desc");
}

function refuse(path: string, problem: string): never {
  throw new GatewayError("invalid_request", `${path} ${problem}.`, { path });
}

/** An item in full: a message may have come without its type, and as a plain text. */
function listed(item: unknown, answerId: string, index: number): JsonObject {
  const { type = "message", ...rest } = isObject(item) ? item : {};
  const prefix = PREFIXES[String(type)] ?? "item";
  const digest = createHash("sha256").update(`${answerId}\n${index}`).digest("hex").slice(0, 40);
  const full = { type, id: `${prefix}_${digest}`, ...(type === "message" ? { status: "completed" } : {}), ...rest };
  const text = stringAt(rest, "content");
  if (type !== "message" || text === undefined) return full;
  const part =
    rest["role"] === "assistant" ? { type: "output_text", text, annotations: [] } : { type: "input_text", text };
  return { ...full, content: [part] };
}
