import type { Principal } from "../../access/principal.ts";
import { checkProtocol } from "../../access/scopes.ts";
import type { StoredAnswers } from "../../dialects/answer/stored-answers.ts";
import type { StoredAsks } from "../../dialects/endpoint.ts";
import { followEvents } from "../../relay/answer/follow-events.ts";
import type { ClientConnection } from "../../relay/call.ts";
import type { Gateway } from "../../relay/gateway.ts";
import type { HeldMemory } from "../../relay/request/memory-budget.ts";
import { countedCaller } from "../counted-caller.ts";
import { mayDelete } from "../may-delete.ts";
import type { Handler, RoutedRequest } from "../routed-request.ts";

/** A request for a stored answer, from a known client. */
interface StoredRequest {
  id: string;
  query: URLSearchParams;
  principal: Principal;
  stored: StoredAnswers;
  gateway: Gateway;
  connection: ClientConnection;
  keepAlive: string | undefined;
  /** What is read from the storage counts like the memory of any other call. */
  memory: HeldMemory;
}

type StoredHandler = (request: StoredRequest) => Promise<string | ReadableStream>;

const HANDLERS: Readonly<Record<StoredAsks, StoredHandler>> = {
  show_answer: async (request) => {
    const { stored, query, principal, gateway, id } = request;
    const wanted = stored.readShow(query);
    const { answer, input } = await find(request);
    if (wanted === undefined) return stored.show?.(answer, input, query) ?? answer;
    const log = gateway.backgroundEvents.find(principal.project, id);
    if (log === undefined) throw stored.refuseStream(id);
    return followEvents(log, { ...wanted, connection: request.connection, comment: request.keepAlive }, gateway);
  },
  list_input: listInput,
  delete_answer: async ({ id, principal, stored, gateway }) => {
    const isDeleted = await gateway.answers.delete(principal.project, id, mayDelete(principal, gateway));
    if (!isDeleted) throw stored.notFound(id);
    await gateway.background.cancel(principal.project, id);
    return stored.encodeDeleted(id);
  },
  cancel_answer: cancel,
};

/** Stored answers, for the keys that may see them: to all others they look as if they did not exist (S09). */
export const storedAnswer =
  (asks: StoredAsks): Handler =>
  async (routed, { gateway }) => {
    const { query, parameters, dialect, connection } = routed;
    const principal = await countedCaller(routed, gateway);
    checkProtocol(principal, dialect.name);
    const stored = storedOf(routed);
    connection.hold();
    const memory = gateway.memory.open(principal);
    try {
      const id = parameters["id"] ?? "";
      if (!stored.isId(id)) throw stored.notFound(id);
      const { keepAlive } = dialect.http;
      const shown = await HANDLERS[asks]({ id, query, principal, stored, gateway, memory, connection, keepAlive });
      const type = typeof shown === "string" ? "application/json" : dialect.http.streamType(undefined);
      return new Response(shown, { headers: { "content-type": type } });
    } finally {
      memory.release();
      connection.rest();
    }
  };

function storedOf({ dialect }: RoutedRequest): StoredAnswers {
  if (dialect.stored === undefined) throw new Error(`the ${dialect.name} dialect does not store answers`);
  return dialect.stored;
}

async function find({ id, principal, stored, gateway, memory }: StoredRequest) {
  const kept = await gateway.answers.find(principal, id, (bytes) => memory.add(bytes));
  if (kept === undefined) throw stored.notFound(id);
  return kept;
}

/** Reads only the turns that the page needs, and holds one of them at a time. */
async function listInput({ id, query, principal, stored, gateway, memory }: StoredRequest): Promise<string> {
  const page = stored.items?.openPage(query);
  if (page === undefined) throw stored.notFound(id);
  let isThere = false;
  const hold = (bytes: number) => {
    memory.add(bytes);
    return () => memory.release(bytes);
  };
  for await (const turn of gateway.answers.inputTurns(principal, id, page.order, hold)) {
    isThere = true;
    const before = page.characters;
    const goesOn = page.take(turn);
    memory.add(page.characters - before);
    if (!goesOn) break;
  }
  if (!isThere) throw stored.notFound(id);
  return page.encode();
}

/** The row decides: whoever makes the answer finds that it was cancelled. */
async function cancel(request: StoredRequest): Promise<string> {
  const { id, principal, stored, gateway } = request;
  const { project } = principal;
  const kept = await find(request);
  if (kept.state === "cancelled") return kept.answer;
  const answer = stored.encodeCancelled(kept.answer);
  const ended =
    kept.state === "pending" && (await gateway.answers.end({ id, project, answer, itemIds: [] }, "cancelled"));
  if (!ended) throw stored.refuseCancel(id);
  await gateway.background.cancel(project, id);
  return answer;
}
