import { GatewayError } from "../canon/error.ts";

/** Only this program writes these columns, so their JSON has the expected shape unless it was edited by hand. */
export function readStoredJson<Value>(of: string, column: string, value: string): Value {
  try {
    return JSON.parse(value) as Value;
  } catch (thrown) {
    throw new GatewayError("internal", `The stored ${of} has a field \`${column}\` that is not valid JSON.`, {
      cause: thrown,
    });
  }
}
