import { arrayAt, type JsonObject, stringAt } from "../../../base/json.ts";
import type { NativePart } from "../../../canon/part.ts";
import { loadsTools } from "./loaded-tools.ts";

/**
 * What targets of other dialects get for an item that only this dialect has, so that a conversation can continue there. Undefined if they
 * get nothing.
 */
export function elsewhereOf(type: string, item: JsonObject): NativePart["elsewhere"] {
  if (loadsTools(item)) {
    return { reason: "this protocol cannot add tools during a conversation; they were sent from the start" };
  }
  switch (type) {
    case "configuration_update":
      return { reason: "this protocol has no settings within a conversation; the last ones apply to the request" };
    case "program":
      return inText("a program and its calls", ["Program that was run:", stringAt(item, "code")]);
    case "program_output":
      return inText("the output of a program", ["Output of the program:", stringAt(item, "result")]);
    case "code_interpreter_call": {
      const logs = arrayAt(item, "outputs").flatMap((output) => stringAt(output, "logs") ?? []);
      const printed = logs.length === 0 ? [] : ["Its output:", ...logs];
      return inText("code that the provider ran", ["Code that was run:", stringAt(item, "code"), ...printed]);
    }
    case "mcp_call": {
      const called = `Call of ${stringAt(item, "name") ?? ""} at ${stringAt(item, "server_label") ?? ""}:`;
      const output = stringAt(item, "output");
      const result = output === undefined ? [] : ["Its result:", output];
      return inText("calls that the provider made", [called, stringAt(item, "arguments"), ...result]);
    }
    default:
      return undefined;
  }
}

function inText(what: string, lines: readonly (string | undefined)[]): NativePart["elsewhere"] {
  const words = lines.filter((line) => line !== undefined && line !== "").join("\n");
  return { words, reason: `this protocol has no item for ${what}; sent as text` };
}
