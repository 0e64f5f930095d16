import { arrayAt, isObject } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import { type CheckRules, refuse } from "../../reading/check.ts";
import { checkBase64, checkDataUrl } from "../../reading/check-base64.ts";
import { ROUTING_FIELDS } from "../../reading/routing-fields.ts";
import { loadsTools } from "../request/loaded-tools.ts";
import { otherModelIn } from "../request/named-models.ts";
import { isNamespace } from "../request/namespaces.ts";
import type { ResponsesRequest } from "./request.ts";

/** State that only the vendor's own account stores, with what to use instead. */
const NOT_KEPT: Readonly<Record<string, string>> = {
  prompt: "send the prompt's text in instructions and input",
};

export const responsesRules: CheckRules<ResponsesRequest> = {
  alsoRead: [...Object.keys(NOT_KEPT), ...ROUTING_FIELDS],
  gate(body) {
    for (const field in NOT_KEPT) {
      if (body[field] === undefined || body[field] === null) continue;
      const message = `\`${field}\` is not supported: ${NOT_KEPT[field]}.`;
      throw new GatewayError("unsupported_parameter", message, { path: field });
    }
  },
  relations(body) {
    const { input, previous_response_id: previous, conversation } = body;
    const items = input ?? [];
    const continues = isGiven(previous) || isGiven(conversation);
    if (isGiven(previous) && isGiven(conversation)) {
      refuse("conversation", "cannot be used together with previous_response_id; send only one of them");
    }
    if (items.length === 0 && !continues) {
      const found = input === undefined || input === null ? "it is missing" : "it is empty";
      refuse("input", `must be a non-empty string or array of items; ${found}`);
    }
    if (typeof items !== "string") checkItems(items, "input");
    body.tools?.forEach((tool, index) => {
      if (isNamespace(tool)) checkInnerTools(arrayAt(tool, "tools"), `tools[${index}].tools`);
    });
  },
};

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** Tools in namespaces and tools that items add must not call other models: only the request's own list is checked for them (S07). */
function checkInnerTools(tools: readonly unknown[], path: string): void {
  for (const [index, tool] of tools.entries()) {
    const at = `${path}[${index}]`;
    const member = otherModelIn(tool);
    if (member !== undefined) refuse(`${at}.${member}`, "is not supported here: name the model in a tool of `tools`");
    if (isNamespace(tool)) checkInnerTools(arrayAt(tool, "tools"), `${at}.tools`);
  }
}

/** Messages and tool outputs contain parts. */
export function checkItems(items: readonly unknown[], name: string): void {
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (!isObject(item)) continue;
    if (loadsTools(item)) checkInnerTools(arrayAt(item, "tools"), `${name}[${index}].tools`);
    for (const field of ["content", "output"]) {
      const parts = item[field];
      if (Array.isArray(parts)) checkParts(parts, () => `${name}[${index}].${field}`);
    }
  }
}

/** `path` is a function, because there are many parts and only refusals need it. */
function checkParts(parts: readonly unknown[], path: () => string): void {
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index];
    if (!isObject(part)) continue;
    const { type, image_url: url, file_data: data } = part;
    const at = (field: string) => () => `${path()}[${index}].${field}`;
    if (type === "input_image") {
      if (typeof url === "string") checkDataUrl(url, at("image_url"));
      else if (typeof part["file_id"] !== "string") refuse(at("image_url")(), "must be a URL; it is missing");
    } else if (type === "input_file") {
      if (typeof data === "string") (data.startsWith("data:") ? checkDataUrl : checkBase64)(data, at("file_data"));
      else if (typeof part["file_id"] !== "string" && typeof part["file_url"] !== "string")
        refuse(at("file_data")(), "must be a data URL unless file_url or file_id is set; it is missing");
    }
  }
}
