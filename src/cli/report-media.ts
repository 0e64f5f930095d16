import type { JsonObject } from "../base/json.ts";
import { EXIT, printJson } from "./command.ts";

/** The result of a call for images or videos. */
export interface MediaOutcome {
  files: { path: string; mime_type: string; bytes: number; revised_prompt?: string }[];
  notMade: { reason: string; moderated: boolean }[];
}

/** Prints files to standard output, one per line, and failures to standard error. Returns the exit code. */
export function reportMedia({ files, notMade }: MediaOutcome, about: JsonObject, json: boolean): number {
  if (json) printJson({ ...about, files, not_made: notMade });
  else for (const { path } of files) console.log(path);
  for (const { reason, moderated } of notMade) console.error(moderated ? `Blocked by moderation: ${reason}` : reason);
  if (notMade.some(({ moderated }) => moderated)) return EXIT.moderated;
  return notMade.length > 0 ? EXIT.failed : EXIT.ok;
}

/** Facts about the call from the response headers. Fields that could not be honoured are reported immediately. */
export function readAbout({ headers }: Response): {
  receipt: string | null;
  dropped: string[];
  approximated: string[];
} {
  const receipt = headers.get("x-trivium-receipt");
  const dropped = headers.get("x-trivium-dropped")?.split(",") ?? [];
  const approximated = headers.get("x-trivium-approximated")?.split(",") ?? [];
  const weakened = [...dropped, ...approximated];
  if (weakened.length > 0) {
    console.error(`Not applied exactly as requested: ${weakened.join(", ")}. See receipt ${receipt} for the reasons.`);
  }
  return { receipt, dropped, approximated };
}
