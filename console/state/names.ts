import { signal } from "@preact/signals";
import { ask } from "../api/client.ts";
import type { Key, Page, TokenSubject } from "../api/types.ts";

/** Key names by ID. Calls contain only the ID. */
const names = signal<ReadonlyMap<string, string>>(new Map());
let isRequested = false;
/** The names of subjects of tokens, which are in the place of keys. */
const subjects = signal<ReadonlyMap<string, string>>(new Map());
let areSubjectsRequested = false;

export function nameOfKey(id: string): string {
  if (id.startsWith("sub_")) return nameOfSubject(id);
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

function nameOfSubject(id: string): string {
  if (!areSubjectsRequested) {
    areSubjectsRequested = true;
    ask<Page<TokenSubject>>("/api/subjects", { limit: 500 }).then(
      ({ data }) => {
        subjects.value = new Map(data.map((one) => [one.id, one.name ?? one.subject]));
      },
      () => {
        areSubjectsRequested = false;
      },
    );
  }
  return subjects.value.get(id) ?? id;
}
