import { ask } from "../api/client.ts";
import type { ListedKey, Page } from "../api/types.ts";

/** The first page is small, because it is what appears first. */
const FIRST_SIZE = 100;
const PAGE_SIZE = 500;
/** More keys are not loaded, and the list says so. */
const MOST_PAGES = 40;

export interface KeyList {
  keys: readonly ListedKey[];
  /** False while more pages are being read, or if there are more than are loaded. */
  isComplete: boolean;
}

/** Every key, page after page. `onPart` gets what has arrived so far, so that the first keys are shown at once. */
export async function allKeys(abort?: AbortSignal, onPart?: (list: KeyList) => void): Promise<KeyList> {
  const keys: ListedKey[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await ask<Page<ListedKey>>("/api/keys", { limit: pages === 0 ? FIRST_SIZE : PAGE_SIZE, after }, abort);
    keys.push(...page.data);
    if (page.next === null) return { keys, isComplete: true };
    after = page.next;
    onPart?.({ keys: [...keys], isComplete: false });
  }
  return { keys, isComplete: false };
}
