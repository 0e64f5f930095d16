import { listed, refuseField, refuseSetting } from "./refuse-field.ts";

/** Contract 2.1, 2.4: which people may be shown, from the narrowest to the widest. */
export const PERSON_GENERATIONS = ["dont_allow", "allow_adult", "allow_all"] as const;

const WORDS: readonly string[] = PERSON_GENERATIONS;
const widthOf = (word: string): number => WORDS.indexOf(word);

/**
 * The setting that is sent to the model: its most permissive value that allows no more than requested. A model that cannot exclude
 * people is not called if they must not be shown.
 */
export function settlePeople(asked: string, words: readonly string[], model: string): string {
  const narrower = words.filter((word) => widthOf(word) <= widthOf(asked));
  const widest = narrower.reduce<string | undefined>(
    (best, word) => (best === undefined || widthOf(word) > widthOf(best) ? word : best),
    undefined,
  );
  return widest ?? refuseField("personGeneration", `${model} accepts ${listed(words)}, not ${asked}.`);
}

/** A model without this setting may show people. */
export function refuseExcludingPeople(asked: string, model: string): void {
  if (asked === "dont_allow") {
    refuseSetting("personGeneration", `${model} has no setting to exclude people. Leave it out, or allow people.`);
  }
}
