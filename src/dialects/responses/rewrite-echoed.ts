import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";

const REASON = "providers reuse the container of an earlier call, and this key cannot use a provider's containers";

/** Rewrites an item of an earlier response without the id of an object that the provider stores. Undefined if it has no such id. */
export function rewriteEchoed(item: JsonObject): { item?: JsonObject; lost: string; reason: string } | undefined {
  switch (item["type"]) {
    case "shell_call":
    case "shell_call_output":
      return withoutEnvironment(item);
    case "code_interpreter_call":
      return typeof item["container_id"] === "string"
        ? {
            item: asMessage(item),
            lost: ".container_id",
            reason: `${REASON}; the code and its output were sent as text`,
          }
        : undefined;
    case "image_generation_call":
      return isFailedImage(item) ? { lost: "", reason: "the call failed and has no image" } : undefined;
    default:
      return undefined;
  }
}

function withoutEnvironment(item: JsonObject): { item: JsonObject; lost: string; reason: string } | undefined {
  const { environment, ...rest } = item;
  if (stringAt(environment, "container_id") === undefined) return undefined;
  return { item: rest, lost: ".environment", reason: REASON };
}

/** The protocol has no such item without a container. */
function asMessage(item: JsonObject): JsonObject {
  const logs = arrayAt(item, "outputs").flatMap((output) => stringAt(output, "logs") ?? []);
  const text = [`Code that was run:\n${stringAt(item, "code") ?? ""}`, ...logs.map((log) => `Its output:\n${log}`)];
  const content = [{ type: "output_text", text: text.join("\n\n"), annotations: [] }];
  return { type: "message", role: "assistant", content };
}

const isFailedImage = ({ status, result }: JsonObject): boolean =>
  status === "failed" && (result === undefined || result === null || result === "");
