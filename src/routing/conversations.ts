/** What identifies a conversation: `conversationOf`. */
export type ConversationKey = bigint | number;

/** Vendors keep a prompt cache for five minutes to an hour after its last use. */
const HELD_MS = 600_000;
export const MAX_CONVERSATIONS = 16_384;

interface Held {
  target: string;
  untilMs: number;
}

/**
 * The target that holds the prompt cache of a conversation: the one that answered it last. Bounded; the least recently used are
 * dropped.
 */
export class Conversations {
  /** In the order of their last use. */
  readonly #held = new Map<ConversationKey, Held>();

  /** The id of the target, unless its cache has probably expired. */
  find(conversation: ConversationKey, nowMs: number): string | undefined {
    const held = this.#held.get(conversation);
    return held === undefined || held.untilMs < nowMs ? undefined : held.target;
  }

  /** The target answered and holds the conversation's cache from now on. */
  remember(conversation: ConversationKey, target: string, nowMs: number): void {
    const held = this.#held.get(conversation) ?? { target, untilMs: 0 };
    held.target = target;
    held.untilMs = nowMs + HELD_MS;
    this.#held.delete(conversation);
    this.#held.set(conversation, held);
    if (this.#held.size <= MAX_CONVERSATIONS) return;
    for (const oldest of this.#held.keys()) {
      this.#held.delete(oldest);
      break;
    }
  }

  get size(): number {
    return this.#held.size;
  }
}
