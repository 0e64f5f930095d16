import type { FailureName, HostError } from "../host-error.ts";

/** Words in a text that ask for a failure. */
const FAILURES: Readonly<Record<string, FailureName>> = {
  "sim:busy": "429",
  "sim:broken": "500",
  "sim:overloaded": "503",
};

/** Throws the failure that one of the texts asks for, in the host's own words. */
export function playFailure(texts: readonly string[], fail: (name: FailureName) => HostError): void {
  for (const [word, name] of Object.entries(FAILURES)) {
    if (texts.some((text) => text.includes(word))) throw fail(name);
  }
}
