interface Seeding {
  clientsUrl: string;
  key: string;
}

/** A cache at a provider, and a video. */
export async function seedObjects({ clientsUrl, key }: Seeding): Promise<void> {
  const post = async (path: string, body: object): Promise<void> => {
    const answer = await fetch(clientsUrl + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    await answer.text();
  };
  await post("/v1beta/cachedContents", {
    model: "models/sim/standard",
    displayName: "product manual",
    contents: [{ role: "user", parts: [{ text: "The pump has three speeds. ".repeat(500) }] }],
  });
  await post("/v1/videos", { model: "sim/video", prompt: "A harbour at nine in the morning", seconds: "4" });
  await post("/v1/responses", { model: "sim/standard", input: "Summarise the manual.", background: true });
}
