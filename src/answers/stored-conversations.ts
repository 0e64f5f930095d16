import { nextTurn } from "../base/next-turn.ts";
import type { Sources } from "../base/sources.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { isVisible, type Owned, type Reader } from "../canon/ownership.ts";
import { askedOf, madeOnce, newIdOf, type ObjectOwner } from "../objects/made-once.ts";
import { newObjectRandom, objectId, parseObjectId } from "../objects/object-id.ts";
import type { Objects } from "../objects/objects.ts";
import { shareUsed } from "../objects/share.ts";
import type { UploadLimits } from "../objects/uploaded-files.ts";
import type { Queries, Storage } from "../storage/storage.ts";
import {
  addItemsWithin,
  appendItems,
  type ConversationItemHead,
  deleteItem,
  hasItems,
  type ItemPage,
  insertConversation,
  measureItems,
  type NewConversationItem,
  selectItemContents,
  selectItemHeads,
  selectItemsById,
} from "../storage/tables/conversations.ts";
import { changeObject, fullShare, type StoredObject, selectObjects } from "../storage/tables/objects.ts";
import { type Sealer, UnreadableSeal } from "./sealer.ts";

interface StoredConversationsOptions extends Sources {
  storage: Storage;
  objects: Objects;
  /** Absent: nothing is stored. */
  sealer: Sealer | undefined;
  limits: Pick<UploadLimits, "maxProjectBytes" | "retentionMs">;
  onProblem: (error: unknown, what: string) => void;
}

/** An item to be stored. Its text is JSON of its protocol and is not parsed here. */
export interface NewItem {
  text: string;
  /** Its own id, if it has one. */
  id: string | undefined;
  /** What an id begins with that is made for it. */
  prefix: string;
}

/** A stored item, with the id by which the conversation knows it. */
export interface KeptItem {
  id: string;
  text: string;
}

/** A conversation that a client has created. */
export interface StoredConversation {
  /** In the form that clients see. */
  id: string;
  metadata: Readonly<Record<string, string>>;
  createdAtMs: number;
}

/** The place of a response in a conversation. */
export interface ConversationPlace {
  /** As it is stored. */
  id: string;
  /** The items before this number preceded the response. */
  end: number;
}

/** The items that precede a request, or why they cannot be used. */
export type ConversationHistory = { place: ConversationPlace; items: readonly KeptItem[] } | "missing" | "too_large";

/** A page of items that the reader may see, and whether there are more. */
export interface KeptItems {
  items: readonly KeptItem[];
  hasMore: boolean;
}

/** Writes the items of a turn inside the caller's transaction. */
export type WriteTurn = (queries: Queries) => Promise<void>;

const STATE = "active";
/** What a row counts besides its content, so that rows without content are limited too. */
const ROW_BYTES = 256;
const ROWS_AT_ONCE = 200;
/** A page ends before an item that would exceed this. A single item can be as large as a request. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
/** Other ids of clients and hosts would not work in a path. */
const USABLE_ID = /^[\w-]{1,128}$/;

const sizeOf = (bytes: number): number => bytes + ROW_BYTES;

/**
 * Conversations that clients create, extend and name in requests. Each is an object of its project, with items that are encrypted like
 * stored responses. Items keep the bytes and the ids that they came with, because sealed reasoning is bound to its id.
 */
export class StoredConversations {
  readonly #options: StoredConversationsOptions;

  constructor(options: StoredConversationsOptions) {
    this.#options = options;
  }

  /** Whether conversations are stored at all. */
  get on(): boolean {
    return this.#options.sealer !== undefined;
  }

  async create(
    owner: ObjectOwner,
    metadata: Readonly<Record<string, string>>,
    items: readonly NewItem[],
  ): Promise<StoredConversation> {
    const { storage, clock, random, limits } = this.#options;
    const id = newIdOf(owner, "conversation", random);
    const { project, keyId, share } = owner;
    const sealed = await this.#sealAll({ id, project }, items);
    const client = { client: metadata };
    const object: StoredObject = withoutAbsent({
      id,
      kind: "conversation" as const,
      project,
      keyId,
      share,
      state: STATE,
      size: sizeOf(Buffer.byteLength(JSON.stringify(client))) + sumOf(sealed),
      metadata: { ...client, ...askedOf(owner, metadata, items) },
      createdAtMs: Math.floor(clock.wallMs()),
      expiresAtMs: this.#expiry(),
    });
    const made = await madeOnce(object, async () => {
      const full = await insertConversation(storage, object, sealed, limits.maxProjectBytes);
      if (full !== undefined) throw shareUsed(project, full);
    });
    return conversationOf(made);
  }

  /** Undefined if there is none that the reader may see. */
  async find(reader: Reader, id: string): Promise<StoredConversation | undefined> {
    const object = await this.#object(reader, id);
    return object && conversationOf(object);
  }

  async update(
    reader: Reader,
    id: string,
    metadata: Readonly<Record<string, string>>,
  ): Promise<StoredConversation | undefined> {
    const object = await this.#object(reader, id);
    if (object === undefined) return undefined;
    const changed = { ...object, metadata: { ...object.metadata, client: metadata } };
    return (await changeObject(this.#options.storage, object.id, [STATE], changed))
      ? conversationOf(changed)
      : undefined;
  }

  /** False if there is none that `may` be deleted. Deleting needs no key to open it. */
  async delete(id: string, may: (owned: Owned) => boolean): Promise<boolean> {
    const object = await this.#stored(id);
    return object !== undefined && may(object) && (await this.#options.objects.delete(object.id));
  }

  /** Adds items at the end and returns them with their ids. Undefined if there is no such conversation. */
  async add(reader: Reader, id: string, items: readonly NewItem[]): Promise<KeptItem[] | undefined> {
    const { storage, limits } = this.#options;
    const object = await this.#object(reader, id);
    if (object === undefined) return undefined;
    const sealed = await this.#sealAll(object, items);
    const added = { items: sealed, size: sumOf(sealed), expiresAtMs: this.#expiry() };
    const outcome = await addItemsWithin(storage, object, added, limits.maxProjectBytes);
    if (typeof outcome === "object") throw shareUsed(object.project, outcome);
    if (outcome === "gone") return undefined;
    return sealed.map((item, index) => ({ id: item.id, text: items[index]?.text ?? "" }));
  }

  /**
   * One page of items. `after` is the id of an item. `take` counts the size of what is read, and may refuse it. `unknown`: there is no
   * such item.
   */
  async list(
    reader: Reader,
    id: string,
    { after, order, limit }: Omit<ItemPage, "after"> & { after?: string | undefined },
    take: (bytes: number) => void,
  ): Promise<KeptItems | "unknown" | undefined> {
    const { storage } = this.#options;
    const object = await this.#object(reader, id);
    if (object === undefined) return undefined;
    const [from] = after === undefined ? [] : await selectItemsById(storage, object.id, [after]);
    if (after !== undefined && from === undefined) return "unknown";
    const found = await selectItemHeads(storage, object.id, { order, after: from?.number, limit: limit + 1 });
    const heads = fitting(found.slice(0, limit));
    take(heads.reduce((sum, { length }) => sum + length, 0));
    const texts = await this.#open(object, heads);
    const items = heads.flatMap(({ number, id: itemId }) => {
      const text = texts.get(number);
      return text === undefined ? [] : [{ id: itemId, text }];
    });
    return { items, hasMore: found.length > heads.length };
  }

  async item(reader: Reader, id: string, itemId: string, take: (bytes: number) => void): Promise<KeptItem | undefined> {
    const object = await this.#object(reader, id);
    const [head] = object === undefined ? [] : await selectItemsById(this.#options.storage, object.id, [itemId]);
    if (object === undefined || head === undefined) return undefined;
    take(head.length);
    const text = (await this.#open(object, [head])).get(head.number);
    return text === undefined ? undefined : { id: itemId, text };
  }

  /** Undefined if there is no such conversation or item. */
  async deleteItem(reader: Reader, id: string, itemId: string): Promise<StoredConversation | undefined> {
    const { storage } = this.#options;
    const object = await this.#object(reader, id);
    const [head] = object === undefined ? [] : await selectItemsById(storage, object.id, [itemId]);
    if (object === undefined || head === undefined) return undefined;
    return (await deleteItem(storage, object.id, head.number, sizeOf)) ? conversationOf(object) : undefined;
  }

  /**
   * What precedes a request that names a conversation. `grows`: a turn will be added, for which the project must have space. `take`
   * counts its size, and may refuse it.
   */
  async history(
    reader: Reader,
    id: string,
    { maxBytes, grows }: { maxBytes: number; grows: boolean },
    take: (bytes: number) => void,
  ): Promise<ConversationHistory> {
    const { storage, limits } = this.#options;
    const object = await this.#object(reader, id);
    if (object === undefined) return "missing";
    if (grows) {
      const full = await fullShare(storage, { project: object.project, size: 1 }, limits.maxProjectBytes);
      if (full !== undefined) throw shareUsed(object.project, full);
    }
    return this.#before(object, undefined, maxBytes, take);
  }

  /** What preceded a stored response. */
  async before(
    reader: Reader,
    { id, end }: ConversationPlace,
    maxBytes: number,
    take: (bytes: number) => void,
  ): Promise<ConversationHistory> {
    const object = await this.#object(reader, objectId("conversation", "chat", id));
    return object === undefined ? "missing" : this.#before(object, end, maxBytes, take);
  }

  async #before(
    object: StoredObject,
    end: number | undefined,
    maxBytes: number,
    take: (bytes: number) => void,
  ): Promise<ConversationHistory> {
    const measured = await measureItems(this.#options.storage, object.id, end);
    if (measured === undefined) return "missing";
    if (measured.length > maxBytes) return "too_large";
    take(measured.length);
    const place = { id: object.id, end: end ?? measured.next };
    const items: KeptItem[] = [];
    for (let first = 0; measured.count > 0; ) {
      const page = { first, last: place.end - 1, limit: ROWS_AT_ONCE };
      const rows = await selectItemContents(this.#options.storage, object.id, page);
      for (const row of rows) {
        const text = await this.#openItem(object, row);
        // A conversation with a gap would mean something else.
        if (text === undefined) return "missing";
        items.push({ id: row.id, text });
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < ROWS_AT_ONCE) break;
      first = last.number + 1;
      // Opening them takes time, in which other calls must not wait.
      await nextTurn();
    }
    return { place, items };
  }

  /**
   * Prepares the items of a turn, to be written together with its response. The writer may be called until it succeeds, and does
   * nothing if the conversation is gone.
   */
  async prepareTurn(project: string, { id }: ConversationPlace, items: readonly NewItem[]): Promise<WriteTurn> {
    const sealed = await this.#sealAll({ id, project }, items);
    const added = { items: sealed, size: sumOf(sealed), expiresAtMs: this.#expiry() };
    let isRepeated = false;
    return async (queries) => {
      // The outcome of an attempt that timed out is unknown.
      if (isRepeated && (await hasItems(queries, id, sealed))) return;
      isRepeated = true;
      await appendItems(queries, id, added);
    };
  }

  /** Writes a turn whose response is not stored. */
  append(write: WriteTurn): Promise<void> {
    return this.#options.storage.transaction(write);
  }

  #expiry(): number | undefined {
    const { clock, limits } = this.#options;
    return limits.retentionMs === undefined ? undefined : Math.floor(clock.wallMs() + limits.retentionMs);
  }

  async #object(reader: Reader, id: string): Promise<StoredObject | undefined> {
    const object = this.on ? await this.#stored(id) : undefined;
    return object !== undefined && isVisible(object, reader) ? object : undefined;
  }

  async #stored(id: string): Promise<StoredObject | undefined> {
    const { storage, clock } = this.#options;
    const named = parseObjectId(id);
    if (named?.kind !== "conversation") return undefined;
    const object = (await selectObjects(storage, [named.random], clock.wallMs())).get(named.random);
    return object?.kind === "conversation" ? object : undefined;
  }

  /** Each item keeps its id if that is usable and not yet used in the conversation; otherwise it gets one. */
  async #sealAll(
    conversation: Pick<StoredObject, "id" | "project">,
    items: readonly NewItem[],
  ): Promise<NewConversationItem[]> {
    const { storage, random, sealer } = this.#options;
    if (sealer === undefined) throw new Error("conversations are not stored");
    const own = items.flatMap(({ id }) => (id !== undefined && USABLE_ID.test(id) ? [id] : []));
    const used = new Set((await selectItemsById(storage, conversation.id, own)).map(({ id }) => id));
    const sealed: NewConversationItem[] = [];
    for (const { id, prefix, text } of items) {
      const isFree = id !== undefined && USABLE_ID.test(id) && !used.has(id);
      const itemId = isFree ? id : `${prefix}_${newObjectRandom(random)}`;
      used.add(itemId);
      const content = await sealer.seal(text, placeOf(conversation, itemId));
      sealed.push({ id: itemId, content, length: Buffer.byteLength(text) });
    }
    return sealed;
  }

  /** The texts of these items by number. */
  async #open(object: StoredObject, heads: readonly ConversationItemHead[]): Promise<Map<number, string>> {
    const numbers = heads.map(({ number }) => number);
    const texts = new Map<number, string>();
    if (numbers.length === 0) return texts;
    const span = { first: Math.min(...numbers), last: Math.max(...numbers), limit: heads.length };
    for (const row of await selectItemContents(this.#options.storage, object.id, span)) {
      const text = await this.#openItem(object, row);
      if (text !== undefined) texts.set(row.number, text);
    }
    return texts;
  }

  async #openItem(object: StoredObject, { id, content }: NewConversationItem): Promise<string | undefined> {
    const { sealer, onProblem } = this.#options;
    try {
      return await sealer?.open(content, placeOf(object, id));
    } catch (thrown) {
      if (!(thrown instanceof UnreadableSeal)) throw thrown;
      const cure = "every instance on one storage needs the same responses.key in its data_dir";
      onProblem(thrown, `an item of the conversation ${object.id} cannot be read: ${cure}`);
      return undefined;
    }
  }
}

const placeOf = ({ project, id }: Pick<StoredObject, "project" | "id">, itemId: string): string =>
  JSON.stringify([project, id, "item", itemId]);

const sumOf = (items: readonly NewConversationItem[]): number =>
  items.reduce((sum, { content }) => sum + sizeOf(content.length), 0);

/** The first items, as many as fit on a page; at least one. */
function fitting(heads: readonly ConversationItemHead[]): readonly ConversationItemHead[] {
  let bytes = 0;
  const end = heads.findIndex(({ length }, index) => {
    bytes += length;
    return index > 0 && bytes > MAX_PAGE_BYTES;
  });
  return end < 0 ? heads : heads.slice(0, end);
}

function conversationOf({ id, metadata, createdAtMs }: StoredObject): StoredConversation {
  const { client } = metadata as { client: Readonly<Record<string, string>> };
  return { id: objectId("conversation", "chat", id), metadata: client, createdAtMs };
}
