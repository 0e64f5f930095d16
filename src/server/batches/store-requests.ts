import { type JsonObject, objectAt, parseObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { arrayItems } from "../../batches/array-items.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Gateway } from "../../relay/gateway.ts";
import { readArriving, refuseManyValues, UnreadBodyError } from "../../relay/request/read-body.ts";
import type { ObjectBlob } from "../../storage/tables/objects.ts";
import { wrongField } from "../wrong-field.ts";

const MAX_REQUESTS = 100_000;

interface StoredRequests {
  blob: ObjectBlob;
  requests: number;
}

/**
 * Stores the requests of a batch, one a line, while they arrive: they are never in memory together. This protocol has no state for
 * a batch that failed as a whole, so what would make it fail is refused at once.
 */
export async function storeRequests(request: Request, project: string, gateway: Gateway): Promise<StoredRequests> {
  const { uploads, snapshot } = gateway;
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/([\w.-]+\+)?json\b/i.test(type)) {
    throw new GatewayError("unsupported_media_type", "The Content-Type must be application/json.");
  }
  let requests = 0;
  const counted = async function* (body: AsyncIterable<Uint8Array>) {
    for await (const line of linesOf(body, snapshot)) {
      requests += 1;
      yield line;
    }
  };
  const write = (body: AsyncIterable<Uint8Array>) => uploads.write(project, counted(body));
  try {
    const blob = await readArriving(request, uploads.limits.maxFileBytes, write, gateway);
    return { blob, requests };
  } catch (refusal) {
    if (!(refusal instanceof GatewayError)) throw refusal;
    const { kind, message, path } = refusal;
    throw new UnreadBodyError(kind, message, withoutAbsent({ path, cause: refusal }));
  }
}

async function* linesOf(
  body: AsyncIterable<Uint8Array>,
  bound: Pick<Gateway["snapshot"], "maxBodyBytes" | "maxJsonKeys">,
): AsyncGenerator<Uint8Array> {
  const seen = new Set<string>();
  let index = 0;
  for await (const item of arrayItems(body, "requests", bound.maxBodyBytes)) {
    if (index === MAX_REQUESTS) {
      throw wrongField("requests", `must have at most ${MAX_REQUESTS} requests`);
    }
    // Line feeds can only be between values.
    const text = item.toString().replace(/[\r\n]/g, " ");
    refuseManyValues(text, bound);
    refuseLine(parseObject(text), `requests[${index}]`, seen);
    yield Buffer.from(`${text}\n`);
    index++;
  }
  if (index === 0) throw wrongField("requests", "must be an array of requests, each with custom_id and params");
}

function refuseLine(line: JsonObject | undefined, path: string, seen: Set<string>): void {
  if (line === undefined) throw wrongField(path, "must be an object with custom_id and params");
  const id = stringAt(line, "custom_id");
  if (!id) throw wrongField(`${path}.custom_id`, "is missing");
  if (seen.has(id)) throw wrongField(`${path}.custom_id`, "was used before in this batch");
  seen.add(id);
  const parameters = objectAt(line, "params");
  if (parameters === undefined) throw wrongField(`${path}.params`, "must be an object");
  if (parameters["stream"] === true) throw wrongField(`${path}.params.stream`, "must not be true in a batch");
}
