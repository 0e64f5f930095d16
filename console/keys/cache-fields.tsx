import { session } from "../api/client.ts";
import type { Key } from "../api/types.ts";

/** Only admins may set the cache of responses. */
export const CacheFields = ({ cache }: { cache: Key["cache"] | undefined }) =>
  session.value?.role !== "admin" ? null : (
    <fieldset class="fields">
      <legend>Cache of responses (empty for none)</legend>
      <label>
        Seconds that a response is used
        <input name="cache_ttl" type="number" min="1" step="1" defaultValue={cache?.ttl_seconds ?? ""} />
      </label>
      <label>
        Space of the project in MB
        <input name="cache_mb" type="number" min="1" step="1" defaultValue={cache?.max_mb ?? ""} />
      </label>
    </fieldset>
  );

/** Empty if nobody may set it here, or if a new key or project has none. */
export function cacheOf(form: FormData, item?: Pick<Key, "cache">): { cache?: object | null } {
  const given = ["cache_ttl", "cache_mb"].map((name) => String(form.get(name) ?? ""));
  const isEmpty = given.every((text) => text === "");
  if (!form.has("cache_ttl") || (isEmpty && item?.cache == null)) return {};
  const [ttl_seconds, max_mb] = given.map((text) => (text === "" ? undefined : Number(text)));
  return { cache: isEmpty ? null : { ttl_seconds, max_mb } };
}
