import { arrayAt, isObject, type JsonObject, parseObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { checkMetadata, MetadataRequest } from "../../dialects/responses/schema/check-conversation.ts";
import { parseObjectId } from "../../objects/object-id.ts";
import { mayDelete } from "../may-delete.ts";
import {
  DeletedCompletion,
  StoredCompletion,
  StoredCompletions,
  StoredMessages,
} from "../openapi/conversation-answers.ts";
import { json } from "../openapi/operation.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { readLimit } from "./file-forms.ts";
import { dropInPath } from "./paths.ts";
import { bodyOf, type MemoryRequest, withMemory } from "./with-memory.ts";

const CHECKED = { door: "dropin", model: { id: "", reasoning: true } } as const;
const MAX_PAIRS = 16;
/** A page ends before a message that would exceed this. */
const MAX_PAGE_CHARACTERS = 8 * 1024 * 1024;
const ONE = "/v1/chat/completions/{id}";

export const listCompletions: ClientEndpoint = {
  method: "GET",
  paths: dropInPath("/v1/chat/completions"),
  id: "listChatCompletions",
  summary: "List stored chat completions, oldest first by default",
  dialect: "chat",
  parameters: ["limit", "completion-order", "after", "completion-model", "completion-metadata"],
  answers: [json(StoredCompletions, "One page of completions. It ends early at 8 MB.")],
  handle: withMemory(async (request) => {
    const { principal, gateway, memory, routed } = request;
    const { query } = routed;
    const wanted = {
      ...readPage(query),
      model: query.get("model") ?? undefined,
      metadata: readFilter(query),
    };
    const listed = await gateway.answers.list(principal, wanted, (bytes) => memory.add(bytes));
    if (listed === "unknown") throw unknownAfter(wanted.after, "a stored completion");
    const data = listed.answers.map(({ answer, metadata }) => encode(answer, metadata));
    return page(data, listed.hasMore);
  }),
};

export const showCompletion: ClientEndpoint = {
  method: "GET",
  paths: dropInPath(ONE),
  id: "getChatCompletion",
  summary: "Show a stored chat completion",
  dialect: "chat",
  parameters: ["completion-id"],
  answers: [json(StoredCompletion, "The completion as it was returned, with its metadata.")],
  handle: withMemory(async (request) => {
    const { principal, gateway, id } = request;
    const { answer } = await find(request);
    return encode(answer, await gateway.answers.metadata(principal, id));
  }),
};

export const updateCompletion: ClientEndpoint = {
  ...showCompletion,
  method: "POST",
  id: "updateChatCompletion",
  summary: "Replace the metadata of a stored chat completion",
  request: MetadataRequest,
  handle: withMemory(async (request) => {
    const { principal, gateway, id } = request;
    const metadata = checkMetadata(await bodyOf(request), CHECKED).metadata ?? {};
    const { answer } = await find(request);
    if (!(await gateway.answers.setMetadata(principal, id, metadata))) throw noCompletion(request);
    return encode(answer, metadata);
  }),
};

export const deleteCompletion: ClientEndpoint = {
  ...showCompletion,
  method: "DELETE",
  id: "deleteChatCompletion",
  summary: "Delete a stored chat completion",
  answers: [json(DeletedCompletion, "It is deleted, with its messages.")],
  handle: withMemory(async (request) => {
    const { principal, gateway, id } = request;
    const isDeleted =
      isCompletion(id) && (await gateway.answers.delete(principal.project, id, mayDelete(principal, gateway)));
    if (!isDeleted) throw noCompletion(request);
    return { id, object: "chat.completion.deleted", deleted: true };
  }),
};

export const listCompletionMessages: ClientEndpoint = {
  method: "GET",
  paths: dropInPath(`${ONE}/messages`),
  id: "listChatCompletionMessages",
  summary: "List the messages of a stored chat completion's request",
  dialect: "chat",
  parameters: ["completion-id", "limit", "completion-order", "after"],
  answers: [json(StoredMessages, "One page of messages. It ends early at 8 MB.")],
  handle: withMemory(async (request) => {
    const { limit, order, after } = readPage(request.routed.query);
    const { input } = await find(request);
    const messages = (JSON.parse(input) as unknown[]).map((message, index) =>
      encodeMessage(message, `${request.id}-${index}`),
    );
    if (order === "desc") messages.reverse();
    const from = after === undefined ? 0 : messages.findIndex(({ id }) => id === after) + 1;
    if (after !== undefined && from === 0) throw unknownAfter(after, "a message of this completion");
    const rest = messages.slice(from);
    const shown = fitting(rest.slice(0, limit));
    return page(shown, rest.length > shown.length);
  }),
};

const isCompletion = (id: string): boolean => parseObjectId(id)?.kind === "completion";

/** A completion that the caller may not see looks as if it did not exist (S09). */
async function find(request: MemoryRequest): Promise<{ input: string; answer: string }> {
  const { principal, gateway, memory, id } = request;
  const kept = isCompletion(id) ? await gateway.answers.find(principal, id, (bytes) => memory.add(bytes)) : undefined;
  if (kept === undefined) throw noCompletion(request);
  return kept;
}

const noCompletion = ({ id }: MemoryRequest): GatewayError =>
  new GatewayError("not_found", `Chat completion with id '${id.slice(0, 80)}' not found.`, {
    path: "id",
    code: "completion_not_found",
  });

const unknownAfter = (after: string | undefined, what: string): GatewayError =>
  new GatewayError("invalid_request", `after must be the id of ${what}; it is "${(after ?? "").slice(0, 80)}".`, {
    path: "after",
  });

const encode = (answer: string, metadata: Readonly<Record<string, string>>): JsonObject => ({
  ...parseObject(answer),
  metadata,
});

/** The vendor's form: a text, or else a list of parts. */
function encodeMessage(message: unknown, id: string): JsonObject & { id: string } {
  const { content, ...rest } = isObject(message) ? message : {};
  const parts = arrayAt({ content }, "content");
  return {
    ...rest,
    id,
    content: typeof content === "string" ? content : null,
    content_parts: parts.length === 0 ? null : parts,
  };
}

function fitting(messages: readonly (JsonObject & { id: string })[]) {
  let characters = 0;
  const end = messages.findIndex((message, index) => {
    characters += JSON.stringify(message).length;
    return index > 0 && characters > MAX_PAGE_CHARACTERS;
  });
  return end < 0 ? messages : messages.slice(0, end);
}

const page = (data: readonly JsonObject[], hasMore: boolean) => ({
  object: "list",
  data,
  first_id: data[0]?.["id"] ?? null,
  last_id: data.at(-1)?.["id"] ?? null,
  has_more: hasMore,
});

function readPage(query: URLSearchParams): { limit: number; order: "asc" | "desc"; after: string | undefined } {
  const order = query.get("order") ?? "asc";
  if (order !== "asc" && order !== "desc") {
    throw new GatewayError("invalid_request", "order must be asc or desc.", { path: "order" });
  }
  const limit = readLimit(query.get("limit"), "limit", { most: 100, unsaid: 20 });
  return { limit, order, after: query.get("after") ?? undefined };
}

/** The pairs that a completion must have: `metadata[name]=value`. */
function readFilter(query: URLSearchParams): Record<string, string> {
  const pairs = [...query].flatMap(([name, value]) => {
    const key = /^metadata\[(?<key>.+)\]$/.exec(name)?.groups?.["key"];
    return key === undefined ? [] : [[key, value] as const];
  });
  if (pairs.length > MAX_PAIRS) {
    throw new GatewayError("invalid_request", `metadata can have at most ${MAX_PAIRS} pairs.`, { path: "metadata" });
  }
  return Object.fromEntries(pairs);
}
