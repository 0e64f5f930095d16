import { isObject, type JsonObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";

/** An object with camel-case keys, at this level only. SDKs write either spelling, and hosts read both. */
export function camelKeys(value: unknown): JsonObject {
  if (!isObject(value)) return {};
  if (!Object.keys(value).some((key) => key.includes("_"))) return value;
  const camel: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const name = key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    if (Object.hasOwn(camel, name)) {
      const message = `${key} and ${name} are two spellings of the same field; send only one.`;
      throw new GatewayError("invalid_request", message, { path: key });
    }
    camel[name] = member;
  }
  return camel;
}
