import { signal } from "@preact/signals";
import { ask } from "../api/client.ts";
import type { Key, Page } from "../api/types.ts";

/** Key names by ID. Calls contain only the ID. */
const names = signal<ReadonlyMap<string, string>>(new Map());
let isRequested = false;

export function nameOfKey(id: string): string {
  if (!isRequested) {
    isRequested = true;
    ask<Page<Key>>("/api/keys", { limit: 500 }).then(
      ({ data }) => {
        names.value = new Map(data.map((key) => [key.id, key.name]));
      },
      () => {
        isRequested = false;
      },
    );
  }
  return names.value.get(id) ?? id;
}
