import { estimateInput } from "../../dialects/reading/estimate-tokens.ts";
import type { EmbeddingCapabilities } from "./embedding-adapter.ts";
import type { EmbeddingBatch, EmbeddingCall, EmbeddingInput } from "./embedding-call.ts";

/** A batch and its approximate number of tokens. */
export interface SizedBatch extends EmbeddingBatch {
  tokens: number;
}

/** Splits a call into requests for a host, in the order of its inputs: by number, by tokens and by settings. */
export function splitBatches(call: EmbeddingCall, { maxInputs, maxTokens }: EmbeddingCapabilities): SizedBatch[] {
  const batches: SizedBatch[] = [];
  let inputs: EmbeddingInput[] = [];
  let tokens = 0;
  const close = () => {
    const [first] = inputs;
    if (first !== undefined) batches.push({ inputs, settings: first.settings, extras: call.extras, tokens });
    inputs = [];
    tokens = 0;
  };
  for (const input of call.inputs) {
    const size = estimateInput(input.content);
    const isFull = inputs.length >= maxInputs || (maxTokens !== undefined && tokens + size > maxTokens);
    if (isFull || (inputs[0] !== undefined && inputs[0].settings !== input.settings)) close();
    inputs.push(input);
    tokens += size;
  }
  close();
  return batches;
}
