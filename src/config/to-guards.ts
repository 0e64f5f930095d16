import { Secret } from "../base/secret.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import type { GuardSettings } from "../canon/guard/guard-settings.ts";
import { GUARD_DIRECTIONS } from "../canon/guard/guard-verdict.ts";
import type { RootFile } from "./schema.ts";

const TIMEOUT_MS = 2_000;
const WINDOW = 200;

export const toGuards = (files: RootFile["guards"] = []): GuardSettings[] =>
  files.map(({ name, on, use, action, on_failure, timeout_ms, window, words, model, url, secret, ...more }) =>
    withoutAbsent({
      name,
      on: on ?? GUARD_DIRECTIONS,
      use,
      action,
      onFailure: on_failure ?? "block",
      timeoutMs: timeout_ms ?? TIMEOUT_MS,
      window: window ?? WINDOW,
      for: more.for,
      words,
      model,
      url: url === undefined ? undefined : new Secret(url),
      secret: secret === undefined ? undefined : new Secret(secret),
    }),
  );
