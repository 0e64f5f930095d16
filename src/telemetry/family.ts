/** One metric of the exposition, with all of its samples. Plain data: workers send it to each other. */
export interface Family {
  /** Ends in `_total` if it is a counter. */
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
  samples: Sample[];
}

export interface Sample {
  suffix?: "_bucket" | "_sum" | "_count";
  labels: readonly (readonly [name: string, value: string])[];
  value: number;
}

type Labels = Readonly<Record<string, string>>;

/** The current value of a gauge, or of a counter that is kept elsewhere. */
export const family = (
  type: "counter" | "gauge",
  name: string,
  help: string,
  samples: readonly { labels?: Labels; value: number }[],
): Family => ({
  name,
  help,
  type,
  samples: samples.map(({ labels = {}, value }) => ({ labels: Object.entries(labels), value })),
});

export const gauge = (name: string, help: string, value: number): Family => family("gauge", name, help, [{ value }]);

export const counter = (name: string, help: string, value: number): Family =>
  family("counter", name, help, [{ value }]);
