import type { TextTarget } from "./target.ts";

/** What decides between targets that would all do. */
export interface Preference {
  /** The client's own: where a provider speaks it, nothing need be translated. */
  dialect: string;
}

/** The targets to try for one call, in order: one for each offer. Pure. */
export function plan(targets: readonly TextTarget[], { dialect }: Preference): TextTarget[] {
  const planned: TextTarget[] = [];
  for (const target of targets) {
    const last = planned.at(-1);
    // The targets of an offer stand next to each other, the best first.
    if (last === undefined || last.offer !== target.offer) planned.push(target);
    else if (target.via === dialect) planned[planned.length - 1] = target;
  }
  return planned;
}
