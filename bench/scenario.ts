import type { ContenderName, Contenders } from "./contenders.ts";
import type { LoadControl } from "./load-control.ts";
import type { UpstreamControl } from "./upstream-control.ts";

export interface Bench {
  contenders: Contenders;
  load: LoadControl;
  upstream: UpstreamControl;
  /** Fewer rounds and shorter ones: a look, not a measurement. */
  quick: boolean;
}

/** One line of the table. `direct` is the upstream without anything before it. */
export interface Row {
  measure: string;
  unit: string;
  values: Partial<Record<ContenderName | "direct", number>>;
  /** To the bare proxy: the median of the rounds' ratios. */
  ratios: Partial<Record<ContenderName, number>>;
  /** The values behind the medians, which show the spread between rounds. */
  rounds?: Partial<Record<ContenderName, readonly number[]>>;
  target?: Target;
}

export interface Target {
  text: string;
  value: number;
  met: boolean;
}

export interface Scenario {
  id: string;
  title: string;
  /** All rows at its end, or each when it is measured: then those before a failure are shown. */
  run(bench: Bench): Promise<Row[]> | AsyncIterable<Row>;
}

/** `what` follows the number, such as "× bare". */
export function atMost(limit: number, what: string, value: number): Target {
  return { text: `≤ ${limit} ${what}`, value, met: value <= limit };
}
