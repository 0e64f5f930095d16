import { isObject } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import { type CheckContext, type CheckRules, refuse } from "../../reading/check.ts";
import { checkBase64 } from "../../reading/check-base64.ts";
import { ROUTING_FIELDS } from "../../reading/routing-fields.ts";
import type { InteractionsRequest } from "./request.ts";

/** What only the vendor's own account can do, with what to use instead. */
const NOT_SUPPORTED: Readonly<Record<string, string>> = {
  agent: "this gateway serves models, not agents; name a model in `model`",
  agent_config: "this gateway serves models, not agents; name a model in `model`",
  environment: "this gateway has no environments for agents",
  webhook_config: "poll a background interaction with GET /v1beta/interactions/{id}",
  continuation_token:
    "an interaction that reached a limit is complete as it is; continue it with previous_interaction_id",
};

const MEDIA: ReadonlySet<unknown> = new Set(["image", "audio", "document", "video"]);

export const interactionsRules: CheckRules<InteractionsRequest> = {
  alsoRead: [...Object.keys(NOT_SUPPORTED), ...ROUTING_FIELDS],
  gate(body) {
    for (const field in NOT_SUPPORTED) {
      if (body[field] === undefined || body[field] === null) continue;
      throw new GatewayError("unsupported_parameter", `\`${field}\` is not supported: ${NOT_SUPPORTED[field]}.`, {
        path: field,
      });
    }
  },
  relations(body, context) {
    const { input, previous_interaction_id: previous, generation_config: config } = body;
    const isEmpty = input === undefined || ((typeof input === "string" || Array.isArray(input)) && input.length === 0);
    if (isEmpty && previous === undefined) {
      const found = input === undefined ? "it is missing" : "it is empty";
      refuse("input", `must be a non-empty string, content, or list of steps; ${found}`);
    }
    if (Array.isArray(input)) checkList(input, () => "input");
    else if (isObject(input)) checkContent(input, () => "input");
    checkThinking(config, context);
  },
};

/** Contract 7 at the contract door. At the drop-in door the field is removed later. */
function checkThinking(config: InteractionsRequest["generation_config"], { model, door }: CheckContext): void {
  if (config?.thinking_level === undefined || model.reasoning || door === "dropin") return;
  refuse("generation_config.thinking_level", `must be omitted because the model ${model.id} does not support thinking`);
}

/** `path` is a function, because there are many parts and only refusals need it. */
function checkList(items: readonly unknown[], path: () => string): void {
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (!isObject(item)) continue;
    const at = () => `${path()}[${index}]`;
    checkContent(item, at);
    for (const field of ["content", "result", "summary"]) {
      const inner = item[field];
      if (Array.isArray(inner)) checkList(inner, () => `${at()}.${field}`);
    }
  }
}

function checkContent({ type, data, uri, mime_type: mimeType }: Record<string, unknown>, path: () => string): void {
  if (!MEDIA.has(type)) return;
  if (typeof data === "string") {
    if (typeof mimeType !== "string") refuse(`${path()}.mime_type`, "is required with data; it is missing");
    checkBase64(data, () => `${path()}.data`);
  } else if (typeof uri !== "string") refuse(`${path()}.data`, "must be base64 unless uri is set; it is missing");
}
