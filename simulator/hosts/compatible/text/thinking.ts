import { isObject, type Json, type JsonObject } from "../../../json.ts";
import type { SimulatedModel } from "../../../text/adapter.ts";
import type { Thinking } from "../../../text/prompt.ts";
import { badValue } from "../../openai/text/check.ts";
import { invalid } from "../../openai/text/errors.ts";
import type { HostBehaviour, ReasoningField } from "./behaviour.ts";

/** What a field says: to think, not to think, or nothing. */
type Asked = boolean | undefined;

function askedBy(field: ReasoningField, value: Json | undefined): Asked {
  if (value === undefined || value === null) return undefined;
  const object = isObject(value) ? value : {};
  switch (field) {
    case "reasoning_effort":
      return value !== "none";
    case "reasoning":
      return object.enabled !== false && object.effort !== "none";
    case "thinking":
      return object.type !== "disabled";
    case "enable_thinking":
      return value === true;
    case "chat_template_kwargs":
      return (object.enable_thinking ?? object.thinking) as Asked;
  }
}

function checkAmounts(body: JsonObject, { efforts, asks, asksOnce }: HostBehaviour): void {
  const effort = body.reasoning_effort ?? (isObject(body.reasoning) ? body.reasoning.effort : undefined);
  if (efforts !== undefined && effort !== undefined && effort !== null && !efforts.includes(String(effort))) {
    throw badValue(effort, efforts, "reasoning_effort");
  }
  const { thinking } = body;
  if (!asks.includes("thinking") || thinking === undefined || thinking === null) return;
  if (!isObject(thinking)) throw invalid("thinking must be an object with a type.", "thinking", "invalid_type");
  const types = ["enabled", "disabled", "adaptive", "auto"];
  if (!types.includes(String(thinking.type))) throw badValue(thinking.type ?? "", types, "thinking.type");
  if (asksOnce && body.reasoning_effort !== undefined) {
    throw invalid("Only one of thinking and reasoning_effort may be given.", "thinking", "invalid_value");
  }
}

/** Whether the model thinks, by the fields that this host listens to: the first that says anything holds. */
export function wantsThinking(body: JsonObject, model: SimulatedModel, host: HostBehaviour): Thinking {
  checkAmounts(body, host);
  const { thinks } = model.traits;
  if (thinks === undefined) return "off";
  const asked = host.asks.map((field) => askedBy(field, body[field]));
  const wanted = asked.includes(false) ? false : asked.includes(true) || host.thinksUnasked === true;
  if (thinks === "unseen") return "hidden";
  if (!wanted) return "off";
  const excluded = isObject(body.reasoning) && body.reasoning.exclude === true;
  return host.thoughts === "unseen" || excluded ? "hidden" : "shown";
}
