import type { LiveSettings } from "../../canon/live.ts";

/** The settings after an update. */
export const mergeSettings = (before: LiveSettings, update: LiveSettings): LiveSettings => ({
  ...before,
  ...update,
  paths: { ...before.paths, ...update.paths },
  extras: [...before.extras, ...update.extras].slice(-MAX_EXTRAS),
});

/** Extras are kept only to be noted. */
const MAX_EXTRAS = 100;
