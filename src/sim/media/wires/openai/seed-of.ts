import { Seed } from "../../../seed.ts";

/** The seed of a picture or film that was asked for without one: the same prompt always looks the same. */
export function seedOf(prompt: string, label: string | number = "only"): number {
  return new Seed(prompt).number(String(label), 2 ** 31);
}
