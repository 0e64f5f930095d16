import type { CachedAnswer } from "../../answers/cached-answer.ts";
import type { Sources } from "../../base/sources.ts";

/** How ids of a protocol begin. */
const PREFIX = /^[A-Za-z]{2,16}[-_]/;

/** The text of a stored response with the ids and times of a new one. */
export function freshText({ text, marks }: Pick<CachedAnswer, "text" | "marks">, { clock, random }: Sources): string {
  const nowMs = clock.wallMs();
  const ids = new Map<string, string>();
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, is } of marks) {
    parts.push(text.slice(at, start));
    at = end;
    if (is === "seconds") parts.push(String(Math.floor(nowMs / 1000)));
    else if (is === "timestamp") parts.push(new Date(nowMs).toISOString());
    else {
      const before = text.slice(start, end);
      let id = ids.get(before);
      if (id === undefined) {
        id = (PREFIX.exec(before)?.[0] ?? "") + random.id();
        ids.set(before, id);
      }
      parts.push(id);
    }
  }
  parts.push(text.slice(at));
  return parts.join("");
}
