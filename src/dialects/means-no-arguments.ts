import type { ToolCallPart } from "../canon/part.ts";

const NOTHING: ReadonlySet<string> = new Set(["null", '""', "[]"]);

/** Whether a call's arguments are a value that hosts write where there are none: an empty object means the same, and is not what was written (H49). */
export const meansNoArguments = ({ input, custom }: Pick<ToolCallPart, "input" | "custom">): boolean =>
  !custom && NOTHING.has(input.trim());
