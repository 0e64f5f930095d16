import { isObject, type JsonObject } from "../json.ts";

/** The objects of a JSONL file; undefined for a line that is not an object. Empty lines are skipped. */
export function readLines(text: string): (JsonObject | undefined)[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      try {
        const value: unknown = JSON.parse(line);
        return isObject(value) ? value : undefined;
      } catch {
        return undefined;
      }
    });
}
