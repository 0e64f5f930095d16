interface Seeding {
  clientsUrl: string;
  /** The API keys that create the objects. */
  keys: { shop: string; hostile: string };
  hostile: string;
  /** Reads from the Admin API. */
  read: (path: string) => Promise<unknown>;
}

const line = (at: number, model: string): string =>
  JSON.stringify({
    custom_id: `review-${at}`,
    method: "POST",
    url: "/v1/chat/completions",
    body: { model, messages: [{ role: "user", content: `Summarise review ${at}.` }] },
  });

/** Files and ended batches: one with failures, and one that could not run. Returns the id of the first. */
export async function seedBatches({ clientsUrl, keys, hostile, read }: Seeding): Promise<string> {
  const upload = async (key: string, name: string, content: string, purpose = "batch"): Promise<string> => {
    const form = new FormData();
    form.set("purpose", purpose);
    form.set("file", new File([content], name));
    return (await send("/v1/files", key, form)).id;
  };
  const send = async (path: string, key: string, body: FormData | object): Promise<{ id: string }> => {
    const isForm = body instanceof FormData;
    const answer = await fetch(clientsUrl + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, ...(isForm ? {} : { "content-type": "application/json" }) },
      body: isForm ? body : JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return (await answer.json()) as { id: string };
  };
  const create = async (key: string, input_file_id: string): Promise<string> => {
    const terms = { endpoint: "/v1/chat/completions", completion_window: "24h" };
    return (await send("/v1/batches", key, { input_file_id, ...terms })).id;
  };
  const lines = Array.from({ length: 40 }, (_, at) => line(at + 1, at % 13 === 5 ? "sim/retired" : "sim/standard"));
  const ended = await create(keys.shop, await upload(keys.shop, "reviews.jsonl", lines.join("\n")));
  const failed = await create(
    keys.hostile,
    await upload(keys.hostile, "broken.jsonl", `${line(1, "sim/standard")}\n{`),
  );
  await upload(keys.hostile, hostile, "The harbour opens at nine.", "user_data");
  for (const id of [ended, failed]) {
    while (((await read(`/api/batches/${id}`)) as { ended_at: string | null }).ended_at === null) await Bun.sleep(50);
  }
  return ended;
}
