import type { ModelFacts } from "./model.ts";

/** Whether its publisher has stopped serving the model. */
export const isRetired = ({ retiresOn }: Pick<ModelFacts, "retiresOn">, nowMs: number): boolean =>
  retiresOn !== undefined && nowMs >= Date.parse(retiresOn);
