import type { ToolCallPart } from "../../canon/part.ts";

const NOTHING: ReadonlySet<string> = new Set(["null", '""', "[]"]);

/**
 * Whether a host wrote a call without arguments as `null`, `""` or `[]`. An empty object means the same, but is not what the host
 * wrote (H49).
 */
export const meansNoArguments = ({ input, custom }: Pick<ToolCallPart, "input" | "custom">): boolean =>
  !custom && NOTHING.has(input.trim());
