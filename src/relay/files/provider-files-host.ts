import { objectAt, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { FilesHost } from "../../providers/files/files-api.ts";
import type { ProviderFiles } from "../../providers/files/provider-files.ts";
import type { StreamedBody } from "../../wire/http/http-exchange.ts";
import { isSuccess, openExchange, readAnswer, UncertainError } from "../attempt/provider-exchange.ts";
import type { Gateway } from "../gateway.ts";
import { UploadRefusedError } from "./upload-refused-error.ts";

const SMALL_MS = 30_000;
/** For the largest file over a slow connection. */
const LARGE_MS = 3_600_000;
/** A provider that accepts nothing for this long, or does not answer once it has everything. */
const STALL_MS = 60_000;
const LOOK_MS = 1_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

/** The host of a provider's files API. */
export class ProviderFilesHost implements FilesHost {
  readonly #files: ProviderFiles;
  readonly #gateway: Pick<Gateway, "clock" | "send">;

  constructor(files: ProviderFiles, gateway: Pick<Gateway, "clock" | "send">) {
    this.#files = files;
    this.#gateway = gateway;
  }

  owns(url: string): boolean {
    return this.#files.owns(url);
  }

  async ask(request: MediaRequest): Promise<MediaAnswer> {
    const { clock, send } = this.#gateway;
    const { body } = request;
    const stall = new AbortController();
    let movedAtMs = clock.nowMs();
    const watched = (open: StreamedBody["open"]): StreamedBody["open"] =>
      async function* () {
        for await (const chunk of open()) {
          movedAtMs = clock.nowMs();
          yield chunk;
        }
        movedAtMs = clock.nowMs();
      };
    const isLarge = body !== undefined && ("streamed" in body || "streamedForm" in body);
    const stop = clock.every(
      LOOK_MS,
      () => {
        if (isLarge && clock.nowMs() - movedAtMs > STALL_MS) stall.abort(stalled());
      },
      { background: true },
    );
    try {
      const sent = isLarge ? { ...request, body: mapStreams(body, watched) } : request;
      const timeoutMs = isLarge ? LARGE_MS : SMALL_MS;
      const exchange = await openExchange(this.#files, sent, { clock, send, signal: stall.signal, timeoutMs });
      const answer = await readAnswer(exchange, { clock }, { maxBytes: MAX_ANSWER_BYTES });
      if (!isSuccess(answer)) throw refusalOf(answer);
      return answer;
    } finally {
      stop();
    }
  }
}

function mapStreams(
  body: NonNullable<MediaRequest["body"]>,
  map: (open: StreamedBody["open"]) => StreamedBody["open"],
): NonNullable<MediaRequest["body"]> {
  if ("streamed" in body) return { streamed: { ...body.streamed, open: map(body.streamed.open) } };
  if (!("streamedForm" in body)) return body;
  const { file, fields } = body.streamedForm;
  return { streamedForm: { fields, file: { ...file, open: map(file.open) } } };
}

const stalled = () =>
  new UncertainError("upstream_timeout", `The upload of a file to the provider made no progress for ${STALL_MS} ms.`);

function refusalOf({ status, text, body, retryAfterSeconds }: MediaAnswer): GatewayError {
  const said = stringAt(objectAt(body, "error"), "message");
  const failure = { status, ...(text && { said: text }) };
  const message = `The provider's files API answered with status ${status}${said === undefined ? "." : `: ${said}`}`;
  if (status === 401 || status === 402 || status === 403)
    return new GatewayError("upstream_credentials", message, { failure });
  if (status === 429)
    return new GatewayError("rate_limited", message, {
      failure,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    });
  if (status >= 500 || status === 408) return new GatewayError("upstream_failed", message, { failure });
  return new UploadRefusedError("upstream_failed", message, { failure });
}
