import type { ListedKey } from "../api/types.ts";
import type { KeyState, KeyStateName } from "./key-state.ts";

/** A key with what is true of it now, the gravest first. */
export interface StatedKey {
  key: ListedKey;
  states: readonly KeyState[];
}

/** The choices of the page: each is a set of states. Absent: all keys that work. */
export const STATE_CHOICES = {
  near: { name: "near or over a budget", states: ["near budget", "will end", "used up"] },
  "used-up": { name: "budget used up", states: ["used up"] },
  expiring: { name: "expiring in 7 days", states: ["expiring"] },
  rotated: { name: "rotated, old secret still works", states: ["rotated"] },
  suspended: { name: "project suspended", states: ["suspended"] },
  ended: { name: "revoked or expired", states: ["revoked", "expired"] },
} as const satisfies Record<string, { name: string; states: readonly KeyStateName[] }>;

export type StateChoice = keyof typeof STATE_CHOICES | "all" | "working";

export const STATE_CHOICE_NAMES = Object.keys(STATE_CHOICES) as (keyof typeof STATE_CHOICES)[];

const ENDED: readonly KeyStateName[] = ["revoked", "expired"];

function isIn({ states }: StatedKey, choice: StateChoice): boolean {
  if (choice === "all") return true;
  if (choice === "working") return states.every(({ name }) => !ENDED.includes(name));
  const wanted: readonly KeyStateName[] = STATE_CHOICES[choice].states;
  return states.some(({ name }) => wanted.includes(name));
}

export const readStateChoice = (query: URLSearchParams): StateChoice => {
  const written = query.get("state");
  if (written === "all") return "all";
  return STATE_CHOICE_NAMES.find((name) => name === written) ?? "working";
};

/** The texts of a key that a search looks at, in lower case. */
const textOf = ({ name, hint, project, tags, models }: ListedKey): string =>
  [name, hint, project, ...tags, ...models].join("\n").toLowerCase();

/** An ID is found by its beginning only: every short number is in the middle of some. */
const isFound = (word: string, { key }: StatedKey, text: string): boolean =>
  text.includes(word) || key.id.toLowerCase().startsWith(word);

export interface KeyFilter {
  text: string;
  project: string | undefined;
  state: StateChoice;
}

/** The keys that fit. Every word of the text must be found. */
export function filterKeys(keys: readonly StatedKey[], { text, project, state }: KeyFilter): StatedKey[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return keys.filter((one) => {
    if (project !== undefined && one.key.project !== project) return false;
    if (!isIn(one, state)) return false;
    if (words.length === 0) return true;
    const of = textOf(one.key);
    return words.every((word) => isFound(word, one, of));
  });
}

/** How many keys each choice has. */
export const countOf = (keys: readonly StatedKey[], choice: StateChoice): number =>
  keys.reduce((count, one) => count + Number(isIn(one, choice)), 0);
