import { type JsonObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Fields } from "../../canon/fields.ts";
import type { Notes } from "../../canon/notes.ts";
import type { CacheMark } from "../../canon/part.ts";

/** Upstreams answer 400 to a fifth mark. */
const MAX_MARKS = 4;

export function decodeCache(fields: Fields): { cache?: CacheMark } {
  const control = fields.object("cache_control");
  if (control === undefined) return {};
  const ttl = stringAt(control, "ttl");
  return { cache: ttl === "5m" || ttl === "1h" ? { ttl } : {} };
}

export const encodeCache = ({ ttl }: CacheMark): JsonObject => withoutAbsent({ type: "ephemeral", ttl });

/** The marks of one request in the order of its prompt: tools, system, messages. */
export class CacheMarks {
  readonly #marked: { block: { cache_control?: JsonObject }; path: string }[] = [];

  /** `path`: where the mark was in the client's request. */
  put(block: JsonObject, mark: CacheMark | undefined, path: string): JsonObject {
    if (mark === undefined) return block;
    const marked = { ...block, cache_control: encodeCache(mark) };
    this.#marked.push({ block: marked, path });
    return marked;
  }

  /** Later marks cover longer prefixes, so the earliest ones beyond the limit are dropped. `reserved`: marks set elsewhere. */
  limit(notes: Notes, reserved: number): void {
    const beyond = Math.max(0, this.#marked.length + reserved - MAX_MARKS);
    for (const { block, path } of this.#marked.slice(0, beyond)) {
      delete block.cache_control;
      notes.dropped(
        path,
        `the provider accepts at most ${MAX_MARKS} cache marks; the last ones were kept because they cover more of the prompt`,
      );
    }
  }
}
