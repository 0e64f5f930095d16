import { isObject } from "../../../json.ts";
import { emptyPrompt, type TextAdapter } from "../../../text/adapter.ts";
import { bedrockFailure, invalid, modelNotFound } from "./errors.ts";
import { readConverse } from "./read-request.ts";
import { renderConverse } from "./render.ts";

/** Converse and ConverseStream. What Claude takes beyond other models, marks and signed thoughts, others refuse. */
export function converseAdapter(isClaude: boolean, stream: boolean): TextAdapter {
  return {
    family: "bedrock",
    cachesMarkedOnly: true,
    read(call, model) {
      if (!isObject(call.body)) throw invalid("The body must be a JSON object.");
      const { prompt, wanted } = readConverse(call.body, model, isClaude);
      const options = { isClaude, omitThinking: prompt.thinking === "omitted", wanted };
      return { prompt, stream, render: (plan) => renderConverse(plan, model, options) };
    },
    readUnchecked: (_call, model) => ({
      prompt: emptyPrompt(),
      stream,
      render: (plan) => renderConverse(plan, model, { isClaude, omitThinking: false, wanted: [] }),
    }),
    notFound: () => modelNotFound(),
    tooLong: (tokens, limit) =>
      invalid(`The model returned the following errors: prompt is too long: ${tokens} tokens > ${limit} maximum`),
    failure: bedrockFailure,
  };
}
