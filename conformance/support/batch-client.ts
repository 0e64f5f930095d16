import { eventually } from "../../testing/eventually.ts";
/** A batch as OpenAI's form shows it. */
export interface ShownBatch {
  id: string;
  status: string;
  output_file_id?: string;
  error_file_id?: string;
  errors?: { data: { code: string; message: string }[] };
  request_counts: { total: number; completed: number; failed: number };
}

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "expired", "cancelled"]);

/** A client of the batch API of OpenAI, at any of several gateways. */
export class BatchClient {
  readonly #key: string;

  constructor(key: string) {
    this.#key = key;
  }

  async #send(url: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${this.#key}` };
    return await fetch(url, { ...init, headers });
  }

  post(url: string, body: object): Promise<Response> {
    return this.#send(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  /** Creates a batch of chat completions with these texts, which are their custom ids too. */
  async create(url: string, texts: readonly string[], { window = "24h", body = {} as object } = {}): Promise<string> {
    const lines = texts.map((text) =>
      JSON.stringify({
        custom_id: text,
        method: "POST",
        url: "/v1/chat/completions",
        body: { model: "test/chat", messages: [{ role: "user", content: text }], ...body },
      }),
    );
    const form = new FormData();
    form.append("file", new Blob([lines.join("\n")]), "in.jsonl");
    form.append("purpose", "batch");
    const uploaded = await this.#send(`${url}/v1/files`, { method: "POST", body: form });
    const { id } = (await uploaded.json()) as { id: string };
    const made = await this.post(`${url}/v1/batches`, {
      input_file_id: id,
      endpoint: "/v1/chat/completions",
      completion_window: window,
    });
    if (!made.ok) throw new Error(`no batch: ${await made.text()}`);
    return ((await made.json()) as ShownBatch).id;
  }

  async show(url: string, id: string): Promise<ShownBatch> {
    return (await (await this.#send(`${url}/v1/batches/${id}`)).json()) as ShownBatch;
  }

  async cancel(url: string, id: string): Promise<ShownBatch> {
    return (await (await this.#send(`${url}/v1/batches/${id}/cancel`, { method: "POST" })).json()) as ShownBatch;
  }

  /** Polls until the batch is so. */
  async until(url: string, id: string, isSo: (batch: ShownBatch) => boolean): Promise<ShownBatch> {
    let batch: ShownBatch | undefined;
    const read = async () => {
      batch = await this.show(url, id);
      return isSo(batch) ? batch : undefined;
    };
    return eventually("a state of the batch", read, { seen: () => batch });
  }

  ended(url: string, id: string): Promise<ShownBatch> {
    return this.until(url, id, ({ status }) => ENDED.has(status));
  }

  /** The custom ids in an output file, in order. */
  async idsIn(url: string, file: string | undefined): Promise<string[]> {
    if (file === undefined) return [];
    const text = await (await this.#send(`${url}/v1/files/${file}/content`)).text();
    return text
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { custom_id: string }).custom_id);
  }
}
