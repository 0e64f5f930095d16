import type { TextTarget } from "../../routing/target.ts";
import type { Snapshot } from "../gateway.ts";

/** The target of a batch; undefined if it is not configured any more. */
export function targetById({ targets, catalogue }: Snapshot, id: string): TextTarget | undefined {
  for (const { offers } of catalogue.list()) {
    for (const offer of offers) {
      const found = targets.textOf(offer).find((target) => target.id === id);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
