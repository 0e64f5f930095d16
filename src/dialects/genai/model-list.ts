import { GatewayError } from "../../canon/error.ts";
import type { ListedModel, ModelLists } from "../../canon/listed-model.ts";

const MAX_PAGE = 1000;

/** All models in one page, unless the client requests fewer. */
export const modelLists: ModelLists = {
  list: (models, { query }) => {
    const size = readSize(query.get("pageSize") ?? query.get("page_size")) ?? models.length;
    const start = startOf(models, query.get("pageToken") ?? query.get("page_token"));
    const page = models.slice(start, start + size);
    const last = page.at(-1);
    const more = last !== undefined && start + size < models.length ? { nextPageToken: tokenOf(last) } : {};
    return { models: page.map(modelEntry), ...more };
  },
  entry: modelEntry,
};

/** Like the vendor's: 0 means the default, and larger sizes are capped. */
function readSize(text: string | null): number | undefined {
  if (text === null || text === "" || text === "0") return undefined;
  if (!/^\d{1,9}$/.test(text)) throw wrong("pageSize", "must be an integer of at least 0");
  return Math.min(Number(text), MAX_PAGE);
}

/** Names the last model of the previous page, so that models added or removed between two pages shift none. */
const tokenOf = ({ id }: ListedModel): string => Buffer.from(id).toString("base64url");

function startOf(models: readonly ListedModel[], token: string | null): number {
  if (token === null || token === "") return 0;
  const place = models.findIndex((model) => tokenOf(model) === token);
  if (place < 0) throw wrong("pageToken", "is not a token of this list; omit it to start with the first page");
  return place + 1;
}

const wrong = (path: string, why: string) => new GatewayError("invalid_request", `${path} ${why}.`, { path });

function modelEntry(model: ListedModel) {
  return {
    name: model.id,
    displayName: model.displayName,
    description: model.description,
    inputTokenLimit: model.contextLength ?? 0,
    outputTokenLimit: model.maxOutputTokens ?? 0,
    thinking: model.reasoning,
    inputModalities: model.inputModalities,
    outputModalities: model.outputModalities,
    pricings: model.pricings,
  };
}
