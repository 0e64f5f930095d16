import { signal } from "@preact/signals";
import { ask } from "../api/client.ts";
import type { Key, Page } from "../api/types.ts";

/** Names of keys by id. Calls know ids alone. */
const names = signal<ReadonlyMap<string, string>>(new Map());
let asked = false;

export function nameOfKey(id: string): string {
  if (!asked) {
    asked = true;
    ask<Page<Key>>("/api/keys", { limit: 500 }).then(
      ({ data }) => {
        names.value = new Map(data.map((key) => [key.id, key.name]));
      },
      () => {
        asked = false;
      },
    );
  }
  return names.value.get(id) ?? id;
}
