import { signal } from "@preact/signals";
import { ask } from "../api/client.ts";
import type { Page, Project, TokenSubject } from "../api/types.ts";
import { allKeys } from "../keys/all-keys.ts";

/** Something may have been created since the names were read; they are read again at most this often. */
const AGAIN_MS = 10_000;

/** Names by ID, read when the first one is wanted. `isNew`: whether an ID without a name may be that of something new. */
function directory(
  read: () => Promise<readonly (readonly [id: string, name: string])[]>,
  isNew: (id: string) => boolean,
): (id: string) => string {
  const names = signal<ReadonlyMap<string, string>>(new Map());
  let isReading = false;
  let readAtMs = Number.NEGATIVE_INFINITY;
  const readAgain = () => {
    if (isReading || performance.now() - readAtMs < AGAIN_MS) return;
    isReading = true;
    read()
      .then(
        (found) => {
          names.value = new Map(found);
        },
        () => undefined,
      )
      .finally(() => {
        isReading = false;
        readAtMs = performance.now();
      });
  };
  return (id) => {
    const name = names.value.get(id);
    if (name === undefined && (names.value.size === 0 || isNew(id))) readAgain();
    return name || id;
  };
}

const nameOfOwnKey = directory(
  async () => (await allKeys()).keys.map(({ id, name }) => [id, name]),
  // Other texts, such as names of models, are no IDs of keys.
  (id) => id.startsWith("key_"),
);

/** Subjects of tokens, which are in the place of keys. */
const nameOfSubject = directory(
  async () =>
    (await ask<Page<TokenSubject>>("/api/subjects", { limit: 500 })).data.map((one) => [
      one.id,
      one.name ?? one.subject,
    ]),
  () => true,
);

export const nameOfKey = (id: string): string => (id.startsWith("sub_") ? nameOfSubject(id) : nameOfOwnKey(id));

/** Calls of projects that were deleted have their IDs alone. */
export const nameOfProject = directory(
  async () => (await ask<Page<Project>>("/api/projects", { limit: 500 })).data.map(({ id, name }) => [id, name]),
  () => true,
);

/** The value of a filter as people call it. */
export const namedValue = (field: string, value: string): string =>
  field === "key" ? nameOfKey(value) : field === "project" ? nameOfProject(value) : value;
