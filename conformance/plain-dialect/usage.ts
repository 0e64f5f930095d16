import { completionTokens, countAt, promptTokens, type Usage } from "../../src/canon/usage.ts";

export function decodeUsage(raw: unknown): Usage | undefined {
  const [input, output] = [countAt(raw, "in"), countAt(raw, "out")];
  return input === undefined || output === undefined ? undefined : { input, output };
}

export const encodeUsage = (usage: Usage | undefined) =>
  usage === undefined ? {} : { tokens: { in: promptTokens(usage), out: completionTokens(usage) } };
