interface Watched {
  clientsUrl: string;
  /** The secret of a key that may call the simulator. */
  key: string;
  /** Sends to the Admin API and returns `data`. */
  send: (path: string, body: object) => Promise<{ id: string; key: string }>;
  revoke: (id: string) => Promise<void>;
  hostile: string;
}

const END_USERS = ["customer-17", "customer-23", "customer-4", "anna@example.com"];

/** End users with some use, and requests that are refused for several reasons. */
export async function seedWatch({ clientsUrl, key, send, revoke, hostile }: Watched): Promise<void> {
  const call = async (secret: string, model = "sim/standard", endUser?: string): Promise<void> => {
    const answer = await fetch(`${clientsUrl}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
        ...(endUser === undefined ? {} : { "x-trivium-user": endUser }),
      },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
    });
    await answer.text();
  };
  for (const [at, endUser] of [...END_USERS, hostile].entries())
    for (let turn = 0; turn <= at; turn++) await call(key, "sim/standard", endUser);
  for (let turn = 0; turn < 23; turn++) await call("sk-of-another-gateway");
  const trial = await send("/api/keys", { name: "trial", project: "shop", limits: { requests_per_minute: 2 } });
  for (let turn = 0; turn < 8; turn++) await call(trial.key);
  const old = await send("/api/keys", { name: "old crawler", project: "research" });
  await revoke(old.id);
  for (let turn = 0; turn < 5; turn++) await call(old.key);
  const narrow = await send("/api/keys", { name: "translations", project: "shop", models: ["sim/fast*"] });
  for (let turn = 0; turn < 3; turn++) await call(narrow.key, "sim/thinker");
  for (let turn = 0; turn < 2; turn++) await call(key, "sim/no-such-model");
}
