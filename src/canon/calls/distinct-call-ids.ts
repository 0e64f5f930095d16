import type { Turn } from "../call.ts";
import type { Part, ToolCallPart, ToolResultPart } from "../part.ts";
import { type OpenCall, OpenCalls, OpenCallsByWord } from "./open-calls.ts";

/**
 * Gives every tool call in a history a unique id, and every result the id of its call. Some providers restart numbering in each response or
 * use one id for all calls, and targets reject duplicates. An id depends only on what precedes its call, so a growing conversation keeps
 * its ids and its prompt cache.
 */
export function distinctCallIds(turns: readonly Turn[]): Turn[] {
  const ids = new CallIds();
  return turns.map((turn, index) => {
    if (turn.role === "assistant" && turns[index - 1]?.role !== "assistant") ids.nextAnswer();
    let parts: Part[] | undefined;
    for (const [at, part] of turn.parts.entries()) {
      const told = ids.tellApart(part);
      if (told === part) continue;
      parts ??= [...turn.parts];
      parts[at] = told;
    }
    return parts === undefined ? turn : { ...turn, parts };
  });
}

/** The calls of one answer that share an id. Usually there is only one. */
interface SameId {
  answer: number;
  last: OpenCall;
  /** All of them, if there are several. */
  several: { open: OpenCalls; byName: OpenCallsByWord } | undefined;
}

class CallIds {
  readonly #used = new Set<string>();
  /** The last number appended to each id, so that thousands of equal ids do not each try all numbers. */
  readonly #counts = new Map<string, number>();
  /** The calls with this original id in the latest answer. */
  readonly #latest = new Map<string, SameId>();
  #answer = 0;

  nextAnswer(): void {
    this.#answer++;
  }

  tellApart(part: Part): Part {
    if (part.type === "tool-call") return this.#call(part);
    return part.type === "tool-result" ? this.#result(part) : part;
  }

  #call(part: ToolCallPart): ToolCallPart {
    let id = part.id;
    let count = this.#counts.get(part.id) ?? 1;
    while (this.#used.has(id)) id = `${part.id}_${++count}`;
    this.#counts.set(part.id, count);
    this.#used.add(id);
    this.#remember(part.id, { id, name: part.name, answered: false });
    return id === part.id ? part : { ...part, id };
  }

  #remember(cameAs: string, asked: OpenCall): void {
    const known = this.#latest.get(cameAs);
    if (known?.answer !== this.#answer) {
      this.#latest.set(cameAs, { answer: this.#answer, last: asked, several: undefined });
      return;
    }
    known.several ??= severalFrom(known.last);
    known.last = asked;
    known.several.open.push(asked);
    known.several.byName.push(asked.name, asked);
  }

  /** The first call without a result, by name if the result has one, else the last call. */
  #result(part: ToolResultPart): ToolResultPart {
    const known = this.#latest.get(part.callId);
    if (known === undefined) return part;
    const named = part.name === undefined ? undefined : known.several?.byName.first(part.name);
    const asked = named ?? known.several?.open.first ?? known.last;
    asked.answered = true;
    return asked.id === part.callId ? part : { ...part, callId: asked.id };
  }
}

function severalFrom(first: OpenCall): NonNullable<SameId["several"]> {
  const several = { open: new OpenCalls(), byName: new OpenCallsByWord() };
  several.open.push(first);
  several.byName.push(first.name, first);
  return several;
}
