import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../../base/json.ts";

export const UPDATE = "configuration_update";

/** A setting that an item of the conversation changed. */
interface Updated<Value> {
  value: Value;
  path: string;
}

interface ConfigurationUpdates {
  effort?: Updated<string>;
  format?: Updated<JsonObject>;
}

/** The settings that items of the conversation change. Each is in effect until a later item replaces it. */
export function configurationUpdates(body: JsonObject): ConfigurationUpdates {
  const updates: ConfigurationUpdates = {};
  for (const [index, item] of arrayAt(body, "input").entries()) {
    if (!isObject(item) || item["type"] !== UPDATE) continue;
    const effort = stringAt(item["reasoning"], "effort");
    if (effort !== undefined) updates.effort = { value: effort, path: `input[${index}].reasoning.effort` };
    const format = objectAt(objectAt(item, "text"), "format");
    if (format !== undefined) updates.format = { value: format, path: `input[${index}].text.format` };
  }
  return updates;
}
