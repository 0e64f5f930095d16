import type { LiveSettings } from "../../canon/live.ts";
import { bareModel } from "./settings.ts";

/** Whether an update repeats what is set. What was never set is the protocol's default, which clients send with every update. */
export function isSameSetting(name: string, update: LiveSettings, settings: LiveSettings): boolean {
  const plain = (value: unknown) => JSON.stringify(value, (key, inner) => (key === "path" ? undefined : inner));
  const key = name as keyof LiveSettings;
  if (key === "model") return bareModel(update.model ?? "") === bareModel(settings.model ?? update.model ?? "");
  return plain(update[key]) === plain(settings[key]);
}
