import type { CanonEvent } from "../../src/canon/event.ts";
import type { Usage } from "../../src/canon/usage.ts";
import type { EncodeAnswerContext, StreamEncoder } from "../../src/dialects/codec.ts";
import { encodeStop } from "./stop-reason.ts";
import { encodeUsage } from "./usage.ts";

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

export class PlainStreamEncoder implements StreamEncoder {
  readonly #context: EncodeAnswerContext;
  #usage: Usage | undefined;

  constructor(context: EncodeAnswerContext) {
    this.#context = context;
  }

  push(step: CanonEvent): string {
    switch (step.type) {
      case "text-delta":
      case "refusal-delta":
        return event({ text: step.text });
      case "usage":
        this.#usage = step.usage;
        return "";
      case "finish":
        return event({ why: encodeStop(step.stop), ...encodeUsage(this.#usage) });
      case "reasoning-start":
      case "tool-input-start":
      case "whole":
        this.#context.note({ path: "content", action: "dropped", reason: `this protocol shows no ${step.type}` });
        return "";
      default:
        return "";
    }
  }
}
