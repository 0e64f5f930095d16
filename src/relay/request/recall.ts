import { type Principal, sharingOf } from "../../access/principal.ts";
import type { ConversationPlace } from "../../answers/stored-conversations.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { FoundState, StateWords, StoredAnswers } from "../../dialects/answer/stored-answers.ts";
import { outlineOf } from "../../dialects/outline-of.ts";
import type { ReceivedRequest } from "../../dialects/received-request.ts";
import type { StoredAnswerHead } from "../../storage/tables/answers.ts";
import type { IncomingCall } from "../call.ts";
import { type CallTime, withinDeadline } from "../derived/while-running.ts";
import type { Gateway } from "../gateway.ts";
import { AnswerSaver } from "../settle/answer-saver.ts";
import type { HeldMemory } from "./memory-budget.ts";
import { refuseManyValues } from "./read-body.ts";

/** A request with the earlier responses that it refers to, and how its own response is stored. */
export interface Recalled {
  readonly request: ReceivedRequest;
  readonly saver: AnswerSaver | undefined;
  readonly background: boolean;
}

interface Recaller {
  incoming: Pick<IncomingCall, "verb" | "requestId">;
  principal: Principal;
  memory: Pick<HeldMemory, "add">;
  /** Storage may use the rest of this time. */
  time: CallTime;
}

/**
 * Inserts the stored responses that a request refers to, so that any provider can serve it without state. A missing reference is
 * rejected, or left out and noted, but never ignored silently.
 */
export function recall(
  checked: ReceivedRequest,
  stored: StoredAnswers,
  caller: Recaller,
  gateway: Gateway,
): Recalled | Promise<Recalled> {
  const { verb } = caller.incoming;
  const words = stored.read(outlineOf(checked));
  const generates = verb === "generate";
  const keeps =
    generates && words.keep && gateway.answers.on && gateway.answers.fits(checked.characters ?? checked.text.length);
  const background = generates && words.background;
  if (background && !keeps) throw stored.refuseBackground();
  const names = words.previous !== undefined || words.conversation !== undefined || words.references.length > 0;
  if (!names && !keeps) return { request: checked, saver: undefined, background };
  return recallNamed(checked, stored, words, { keeps, names, background }, caller, gateway);
}

async function recallNamed(
  checked: ReceivedRequest,
  stored: StoredAnswers,
  words: ReturnType<StoredAnswers["read"]>,
  { keeps, names, background }: { keeps: boolean; names: boolean; background: boolean },
  caller: Recaller,
  gateway: Gateway,
): Promise<Recalled> {
  const { project, keyId } = caller.principal;
  const { requestId } = caller.incoming;
  const { heads, turns, items, conversation } = await inTime(caller, gateway, async (within) => ({
    ...(await historyOf(words.previous, stored, within, gateway)),
    ...(await conversationOf(words.conversation, stored, within, gateway)),
    items: await itemsOf(words.references, stored, within, gateway),
  }));
  const { request, own } = stored.expand(checked, { turns, items });
  if (names) refuseManyValues(request.text, gateway.snapshot);
  if (conversation !== undefined && own === NO_ITEMS && turns.every(({ input }) => input === NO_ITEMS)) {
    throw conversation.refuse("empty");
  }
  // A response that is not to be stored is still a turn of the conversation that its request names.
  const isTurn = conversation !== undefined && caller.incoming.verb === "generate";
  if (!keeps && !isTurn) return { request, saver: undefined, background };
  const id = stored.makeId(gateway.random.id());
  const call = { id, project, keyId, share: sharingOf(caller.principal), requestId, own, history: heads };
  const saver = new AnswerSaver({ ...call, conversation: conversation?.place, isKept: keeps }, stored, gateway);
  return { request, saver, background };
}

const NO_ITEMS = "[]";

/** The turns of the conversation that a request names, as one. */
async function conversationOf(
  named: StateWords["conversation"],
  { conversations }: StoredAnswers,
  { incoming, principal, memory }: Recaller,
  { storedConversations, snapshot }: Gateway,
): Promise<{ conversation?: NamedConversation; turns?: FoundState["turns"] }> {
  if (named === undefined || conversations === undefined) return {};
  const refuse: NamedConversation["refuse"] = (fault) => conversations.refuse(named, fault);
  const { maxBodyBytes: maxBytes } = snapshot;
  const grows = incoming.verb === "generate";
  const take = (bytes: number) => memory.add(bytes);
  const found = await storedConversations.history(principal, named.id, { maxBytes, grows }, take);
  if (typeof found === "string") throw refuse(found);
  const input = `[${found.items.map(({ text }) => text).join(",")}]`;
  return { conversation: { place: found.place, refuse }, turns: [{ input, answer: "{}" }] };
}

interface NamedConversation {
  place: ConversationPlace;
  refuse: (fault: "missing" | "too_large" | "empty") => GatewayError;
}

/** Waits for storage no longer than the call's deadline. Later results are dropped and not counted. */
async function inTime<Found>(
  caller: Recaller,
  { clock }: Gateway,
  read: (caller: Recaller) => Promise<Found>,
): Promise<Found> {
  let isLate = false;
  const memory = { add: (bytes: number) => void (isLate || caller.memory.add(bytes)) };
  try {
    return await withinDeadline(read({ ...caller, memory }), caller.time, clock);
  } catch (thrown) {
    isLate = true;
    throw thrown;
  }
}

interface Remembered {
  heads: readonly StoredAnswerHead[];
  turns: FoundState["turns"];
}

async function historyOf(
  previous: string | undefined,
  stored: StoredAnswers,
  { principal, memory }: Recaller,
  gateway: Gateway,
): Promise<Remembered> {
  if (previous === undefined) return { heads: [], turns: [] };
  if (!stored.isId(previous)) throw stored.refusePrevious(previous, "missing", previous);
  const { maxBodyBytes } = gateway.snapshot;
  const found = await gateway.answers.history(principal, previous, maxBodyBytes, (bytes) => memory.add(bytes));
  if ("turns" in found) return found;
  throw refusal(previous, found, stored);
}

function refusal(
  previous: string,
  found: Exclude<Awaited<ReturnType<Gateway["answers"]["history"]>>, Remembered>,
  stored: StoredAnswers,
): GatewayError {
  if ("bytes" in found) return stored.refusePrevious(previous, "too_large", previous);
  if ("missing" in found) return stored.refusePrevious(previous, "missing", found.missing);
  const { state, unfinished } = found;
  return stored.refusePrevious(previous, state === "done" ? "missing" : state, unfinished);
}

/** Referenced items count towards the size limit of the body. */
async function itemsOf(
  references: readonly string[],
  stored: StoredAnswers,
  { principal, memory }: Recaller,
  { answers, snapshot }: Gateway,
): Promise<Map<string, string>> {
  const wanted = new Set(references);
  const items = new Map<string, string>();
  if (stored.items === undefined || wanted.size === 0) return items;
  const { read, refuseReferences } = stored.items;
  await answers.lookForItems(principal, references, snapshot.maxBodyBytes, (answer) => {
    for (const [id, item] of read(answer)) if (wanted.has(id)) items.set(id, item);
  });
  // An item that is referenced a thousand times is inserted a thousand times (S23).
  const bytes = references.reduce((sum, id) => sum + (items.get(id)?.length ?? 0), 0);
  if (bytes > snapshot.maxBodyBytes) throw refuseReferences();
  memory.add(bytes);
  return items;
}
