import { signal } from "@preact/signals";
import { ask } from "../api/client.ts";
import type { Page, TokenSubject } from "../api/types.ts";
import { allKeys } from "../keys/all-keys.ts";

/** Key names by ID. Calls contain only the ID. */
const names = signal<ReadonlyMap<string, string>>(new Map());
let isRequested = false;
/** The names of subjects of tokens, which are in the place of keys. */
const subjects = signal<ReadonlyMap<string, string>>(new Map());
let areSubjectsRequested = false;

export function nameOfKey(id: string): string {
  if (id.startsWith("sub_")) return nameOfSubject(id);
  const name = names.value.get(id);
  // Other texts, such as names of models, are no IDs of keys.
  if (name === undefined && (names.value.size === 0 || id.startsWith("key_"))) readNames();
  return name ?? id;
}

/** A key may have been created since the names were read; they are read again at most this often. */
const AGAIN_MS = 10_000;
let readAtMs = Number.NEGATIVE_INFINITY;

function readNames(): void {
  if (isRequested || performance.now() - readAtMs < AGAIN_MS) return;
  isRequested = true;
  allKeys()
    .then(
      ({ keys }) => {
        names.value = new Map(keys.map((key) => [key.id, key.name]));
      },
      () => undefined,
    )
    .finally(() => {
      isRequested = false;
      readAtMs = performance.now();
    });
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
