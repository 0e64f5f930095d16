import { arrayAt, type JsonObject, objectAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { countAt } from "../../canon/usage.ts";
import { chatCodec } from "../../dialects/chat/codec.ts";
import type { AdapterContext, MediaAnswer } from "../../media/adapter.ts";
import type { EmbeddingAdapter, EmbeddingCapabilities } from "../../services/embeddings/embedding-adapter.ts";
import type { EmbeddingBatch } from "../../services/embeddings/embedding-call.ts";
import type { EmbeddingReply } from "../../services/embeddings/embedding-reply.ts";
import { taskWord } from "../../services/embeddings/fit-embeddings.ts";
import type { CodeTable } from "../media-adapters/code-table.ts";
import { emptyAnswer, mediaFailure } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { placeVectors } from "./place-vectors.ts";

/** Differences between hosts of `/embeddings`. */
interface EmbeddingsHost {
  serves?: (model: string) => boolean;
  capabilities: (model: string) => EmbeddingCapabilities;
  /** It returns base64 on request. */
  base64?: true;
  /** Its field names that differ from the protocol's. */
  names?: { dimensions?: string; task?: string; truncate?: string };
  /** Its additional fields that clients may send; absent: any. */
  extras: readonly string[] | "all";
  codes: CodeTable;
}

/** An adapter for a host that has the protocol's own `/embeddings`. */
export function embeddingsApi(host: EmbeddingsHost): EmbeddingAdapter {
  const { serves = () => true, capabilities, codes } = host;
  return {
    serves,
    capabilities,
    submit: (batch, context) => ({ method: "POST", url: "/embeddings", body: { json: bodyOf(batch, context, host) } }),
    read: readEmbeddings,
    error: (answer) => mediaFailure(answer, codes),
    // All endpoints of the protocol report the account's limits in the same way.
    ...withoutAbsent({ limitHeaders: chatCodec.limitHeaders }),
  };
}

function bodyOf(
  { inputs, settings, extras }: EmbeddingBatch,
  { model }: AdapterContext,
  host: EmbeddingsHost,
): JsonObject {
  const { names = {}, base64 } = host;
  const capabilities = host.capabilities(model);
  const task = taskWord(settings.task, capabilities);
  const { dimensions, truncate } = settings;
  return {
    ...(host.extras === "all" ? extras : pickExtras(extras, host.extras)),
    model,
    input: inputs.map(({ content }) => content),
    ...withoutAbsent({ [names.dimensions ?? "dimensions"]: dimensions, [names.task ?? "input_type"]: task }),
    ...(truncate === undefined || names.truncate === undefined ? {} : { [names.truncate]: truncate }),
    ...(base64 ? { encoding_format: "base64" } : {}),
  };
}

/** Reads `{ data: [{ index, embedding }], usage }`. */
function readEmbeddings({ body }: MediaAnswer): EmbeddingReply {
  const data = arrayAt(body, "data");
  if (data.length === 0) throw emptyAnswer("an embedding");
  const usage = objectAt(body, "usage");
  const input = countAt(usage, "prompt_tokens") ?? countAt(usage, "total_tokens");
  // No input has no tokens: such a host has not counted.
  return { vectors: placeVectors(data, "index"), ...(input ? { usage: { input } } : {}) };
}
