import type { GuardSettings } from "../canon/guard/guard-settings.ts";
import type { TextKind } from "./checked-text.ts";
import { piiFinder } from "./find/find-pii.ts";
import { secretFinder } from "./find/find-secrets.ts";
import type { TextFinder } from "./find/text-match.ts";
import { WordFinder } from "./find/word-finder.ts";
import type { TextHook } from "./text-hook.ts";

/** A configured guard, ready to run: it finds something itself, or asks something else. */
export interface Guard {
  readonly settings: GuardSettings;
  readonly finder: TextFinder | undefined;
  readonly hook: TextHook | undefined;
  /** What it looks at. */
  readonly kinds: ReadonlySet<TextKind>;
}

const TEXTS: ReadonlySet<TextKind> = new Set(["text"]);
/** Words of the protocol may be words of a list. */
const READ: ReadonlySet<TextKind> = new Set(["text", "name", "key"]);
/** A credential or an address can occur anywhere. */
const ALL: ReadonlySet<TextKind> = new Set(["text", "name", "structure", "key", "number"]);

/** The digits of an id may look like a card number by chance, and a changed id belongs to nothing. */
const NOT_IDS: ReadonlySet<TextKind> = new Set(["text", "name", "key", "number"]);

/** `hookOf` makes what a guard asks. */
export function makeGuard(settings: GuardSettings, hookOf: (settings: GuardSettings) => TextHook): Guard {
  switch (settings.use) {
    case "secrets":
      return { settings, finder: secretFinder, hook: undefined, kinds: ALL };
    case "pii":
      return { settings, finder: piiFinder, hook: undefined, kinds: NOT_IDS };
    case "words":
      return { settings, finder: new WordFinder(settings.words ?? []), hook: undefined, kinds: READ };
    case "moderation":
    case "webhook":
      return { settings, finder: undefined, hook: hookOf(settings), kinds: TEXTS };
    default:
      return settings.use satisfies never;
  }
}
