import type { ServiceTarget, Target, TextTarget } from "../../routing/target.ts";
import type { Snapshot } from "../gateway.ts";

/** A target that batches can go to. */
export type BatchTarget = TextTarget | ServiceTarget<"embeddings">;

/** The target of a batch; undefined if it is not configured any more. */
export function targetById({ targets }: Snapshot, id: string): BatchTarget | undefined {
  for (const target of targets.all()) if (target.id === id && isBatchTarget(target)) return target;
  return undefined;
}

const isBatchTarget = (target: Target): target is BatchTarget =>
  target.codec !== undefined || (target.via === "service" && target.model.kind === "embedding");

/** The name of what its lines contain: a dialect or a service. */
export const contentOf = (target: BatchTarget): string => (isForService(target) ? "embeddings" : target.via);

export const isForService = (target: BatchTarget): target is ServiceTarget<"embeddings"> => target.via === "service";
