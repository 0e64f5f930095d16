import { HostError } from "../../../host-error.ts";
import { isObject } from "../../../json.ts";
import {
  emptyPrompt,
  type IncomingCall,
  type ReadCall,
  type SimulatedModel,
  type TextAdapter,
} from "../../../text/adapter.ts";
import { bodyOf } from "../../openai/text/adapter.ts";
import { contextTooLong, modelNotFound, openaiFailure } from "../../openai/text/errors.ts";
import type { HostBehaviour } from "./behaviour.ts";
import { inHostsWords } from "./errors.ts";
import { readHostRequest } from "./read-request.ts";
import { renderHostChat } from "./render.ts";

/** Runs what refuses in OpenAI's shape, and refuses in the host's. */
export function speakingAs<T>(host: HostBehaviour, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof HostError ? inHostsWords(error, host) : error;
  }
}

/** Chat completions as one of the compatible hosts speaks them. */
export function compatibleAdapter(host: HostBehaviour, nowMs: () => number, strict: boolean): TextAdapter {
  const asHost = (error: HostError): HostError => inHostsWords(error, host);
  return {
    family: "openai",
    cachesMarkedOnly: false,
    read(call, model): ReadCall {
      return speakingAs(host, () => {
        const body = bodyOf(call);
        const { prompt, stream, includeUsage } = readHostRequest(body, model, host, strict);
        const options = { host, includeUsage, split: host.thoughts === "tags" && body.reasoning_split === true };
        const shown = prompt.thinking === "shown";
        const render: ReadCall["render"] = (plan) =>
          speakingAs(host, () => renderHostChat(plan, model, options, nowMs(), shown));
        return { prompt, stream, render };
      });
    },
    readUnchecked(call: IncomingCall, model: SimulatedModel): ReadCall {
      const options = { host, includeUsage: true, split: false };
      return {
        prompt: emptyPrompt(),
        stream: isObject(call.body) && call.body.stream === true,
        render: (plan) => renderHostChat(plan, model, options, nowMs(), false),
      };
    },
    notFound: (call) => asHost(modelNotFound(call.modelName)),
    tooLong: (tokens, limit) => asHost(contextTooLong(tokens, limit)),
    failure: (name, model) => asHost(openaiFailure(name, model)),
  };
}
