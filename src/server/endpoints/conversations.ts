import type { KeptItem, NewItem, StoredConversation } from "../../answers/stored-conversations.ts";
import { GatewayError } from "../../canon/error.ts";
import { withoutEchoedIds } from "../../dialects/request/without-echoed-ids.ts";
import { newItem } from "../../dialects/responses/request/expand-items.ts";
import { listedItem, readItemPage } from "../../dialects/responses/request/list-input.ts";
import {
  ConversationItemsRequest,
  ConversationRequest,
  checkConversation,
  checkConversationItems,
  checkMetadata,
  MetadataRequest,
} from "../../dialects/responses/schema/check-conversation.ts";
import { requireOwnObjects } from "../../relay/request/require-own-objects.ts";
import { mayDelete } from "../may-delete.ts";
import {
  ConversationAnswer,
  ConversationItem,
  ConversationItems,
  DeletedConversation,
} from "../openapi/conversation-answers.ts";
import { json } from "../openapi/operation.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { ownerOf } from "./owner-of.ts";
import { dropInPath } from "./paths.ts";
import { bodyOf, type MemoryRequest, withMemory } from "./with-memory.ts";

/** The checks of a body do not depend on a model. */
const CHECKED = { door: "dropin", model: { id: "", reasoning: true } } as const;

const ONE = "/v1/conversations/{id}";
const ITEM = `${ONE}/items/{item}`;

export const createConversation: ClientEndpoint = {
  method: "POST",
  paths: dropInPath("/v1/conversations"),
  id: "createConversation",
  summary: "Create a conversation that responses of any model can continue",
  dialect: "responses",
  request: ConversationRequest,
  answers: [json(ConversationAnswer, "The conversation.")],
  handle: withMemory(async (request) => {
    const { principal, gateway } = request;
    if (!gateway.storedConversations.on) throw notStored();
    const { items, metadata } = checkConversation(await bodyOf(request), CHECKED);
    const owner = ownerOf(principal, request.routed);
    const created = await gateway.storedConversations.create(owner, metadata ?? {}, await ownItems(items, request));
    return encode(created);
  }),
};

export const showConversation: ClientEndpoint = {
  method: "GET",
  paths: dropInPath(ONE),
  id: "getConversation",
  summary: "Show a conversation",
  dialect: "responses",
  parameters: ["conversation-id"],
  answers: [json(ConversationAnswer, "The conversation, without its items.")],
  handle: withMemory(async (request) => {
    const { principal, gateway, id } = request;
    return encode(found(await gateway.storedConversations.find(principal, id), request));
  }),
};

export const updateConversation: ClientEndpoint = {
  ...showConversation,
  method: "POST",
  id: "updateConversation",
  summary: "Replace the metadata of a conversation",
  request: MetadataRequest,
  handle: withMemory(async (request) => {
    const { principal, gateway, id } = request;
    const { metadata } = checkMetadata(await bodyOf(request), CHECKED);
    return encode(found(await gateway.storedConversations.update(principal, id, metadata ?? {}), request));
  }),
};

export const deleteConversation: ClientEndpoint = {
  ...showConversation,
  method: "DELETE",
  id: "deleteConversation",
  summary: "Delete a conversation with its items",
  answers: [json(DeletedConversation, "It is deleted. Stored responses that were part of it stay.")],
  handle: withMemory(async (request) => {
    const { principal, gateway, id } = request;
    if (!(await gateway.storedConversations.delete(id, mayDelete(principal, gateway)))) throw noConversation(request);
    return { id, object: "conversation.deleted", deleted: true };
  }),
};

export const addConversationItems: ClientEndpoint = {
  method: "POST",
  paths: dropInPath(`${ONE}/items`),
  id: "createConversationItems",
  summary: "Add items at the end of a conversation",
  dialect: "responses",
  parameters: ["conversation-id"],
  request: ConversationItemsRequest,
  answers: [json(ConversationItems, "The items, with their ids.")],
  handle: withMemory(async (request) => {
    const { principal, gateway, id } = request;
    const { items } = checkConversationItems(await bodyOf(request), CHECKED);
    found(await gateway.storedConversations.find(principal, id), request);
    const added = await gateway.storedConversations.add(principal, id, await ownItems(items, request));
    return page(found(added, request), false);
  }),
};

export const listConversationItems: ClientEndpoint = {
  method: "GET",
  paths: dropInPath(`${ONE}/items`),
  id: "listConversationItems",
  summary: "List the items of a conversation, newest first by default",
  dialect: "responses",
  parameters: ["conversation-id", "limit", "order", "after"],
  answers: [json(ConversationItems, "One page of items. It ends early at 8 MB.")],
  handle: withMemory(async (request) => {
    const { principal, gateway, id, memory, routed } = request;
    const wanted = readItemPage(routed.query);
    const take = (bytes: number) => memory.add(bytes);
    const listed = found(await gateway.storedConversations.list(principal, id, wanted, take), request);
    if (listed === "unknown") {
      const message = `after must be the id of an item of this conversation; it is "${(wanted.after ?? "").slice(0, 80)}".`;
      throw new GatewayError("invalid_request", message, { path: "after" });
    }
    return page(listed.items, listed.hasMore);
  }),
};

export const showConversationItem: ClientEndpoint = {
  method: "GET",
  paths: dropInPath(ITEM),
  id: "getConversationItem",
  summary: "Show an item of a conversation",
  dialect: "responses",
  parameters: ["conversation-id", "item-id"],
  answers: [json(ConversationItem, "The item.")],
  handle: withMemory(async (request) => {
    const { principal, gateway, id, memory } = request;
    const take = (bytes: number) => memory.add(bytes);
    const item = await gateway.storedConversations.item(principal, id, itemOf(request), take);
    if (item === undefined) throw await noItem(request);
    return encodeItem(item);
  }),
};

export const deleteConversationItem: ClientEndpoint = {
  ...showConversationItem,
  method: "DELETE",
  id: "deleteConversationItem",
  summary: "Delete an item of a conversation",
  answers: [json(ConversationAnswer, "The conversation, without its items.")],
  handle: withMemory(async (request) => {
    const { principal, gateway, id } = request;
    const conversation = await gateway.storedConversations.deleteItem(principal, id, itemOf(request));
    if (conversation === undefined) throw await noItem(request);
    return encode(conversation);
  }),
};

/** The items of a request, without ids of objects in a provider's account, which the key may not use. */
async function ownItems(
  items: readonly unknown[] | null | undefined,
  { principal, routed, gateway }: MemoryRequest,
): Promise<NewItem[]> {
  const { objects } = routed.dialect.requests;
  const body = { input: items ?? [] };
  const request = { text: JSON.stringify(body), body };
  const own = principal.providerObjects ? request : withoutEchoedIds(request, objects);
  const kept = own.body["input"] as readonly unknown[];
  await requireOwnObjects({ items: kept }, objects, principal, gateway);
  return kept.map((item) => newItem(JSON.stringify(item), item));
}

function found<Found>(conversation: Found | undefined, request: MemoryRequest): Found {
  if (conversation === undefined) throw noConversation(request);
  return conversation;
}

const itemOf = ({ routed }: MemoryRequest): string => routed.parameters["item"] ?? "";

const encode = ({ id, createdAtMs, metadata }: StoredConversation) => ({
  id,
  object: "conversation",
  created_at: Math.floor(createdAtMs / 1000),
  metadata,
});

const encodeItem = ({ id, text }: KeptItem) => listedItem(JSON.parse(text) as unknown, id);

const page = (items: readonly KeptItem[], hasMore: boolean) => ({
  object: "list",
  data: items.map(encodeItem),
  first_id: items[0]?.id ?? null,
  last_id: items.at(-1)?.id ?? null,
  has_more: hasMore,
});

/** A conversation that the caller may not see looks as if it did not exist (S09). */
const noConversation = ({ id }: MemoryRequest): GatewayError =>
  new GatewayError("not_found", `Conversation with id '${id.slice(0, 80)}' not found.`, {
    path: "id",
    code: "conversation_not_found",
  });

async function noItem(request: MemoryRequest): Promise<GatewayError> {
  const { principal, gateway, id } = request;
  if ((await gateway.storedConversations.find(principal, id)) === undefined) return noConversation(request);
  const message = `The conversation has no item with id '${itemOf(request).slice(0, 80)}'.`;
  return new GatewayError("not_found", message, { path: "item", code: "item_not_found" });
}

const notStored = (): GatewayError =>
  new GatewayError(
    "invalid_request",
    "This gateway stores no conversations, because `responses.store` is false in its configuration. Send the items in `input`.",
  );
