import type { MeasuredGroup } from "../../../ledger/measured.ts";

export const measuredView = (group: MeasuredGroup | undefined) =>
  group === undefined
    ? null
    : {
        calls: group.calls,
        failures: group.failures,
        first_content_ms: group.firstContentMs,
        tokens_per_second: group.tokensPerSecond,
      };
