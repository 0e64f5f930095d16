import { Seed } from "../seed.ts";

/** The seed of what was asked for without one: the same prompt always looks the same. */
export function seedOf(prompt: string, label: string | number = "media"): number {
  return new Seed(prompt).number(String(label), 2 ** 31);
}
