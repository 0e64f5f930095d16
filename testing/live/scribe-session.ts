import { createKey } from "../../src/access/keys.ts";
import type { Limits } from "../../src/access/limits.ts";
import type { GatewayError } from "../../src/canon/error.ts";
import { Harness, UPSTREAM_URL } from "../harness.ts";
import type { LiveClient } from "../live-client.ts";
import { liveModels, realtime, realtimeHost } from "./live-hosts.ts";
import type { HostScript, MemoryHost } from "./memory-sockets.ts";

/** What a second of transcription costs, in nano-dollars. */
export const SECOND_COST = 100_000;
export const SECONDS_USAGE = { type: "duration", seconds: 3 };

/** `liveModels`, and the model that writes down what their users say, by the second. */
export function modelsWithScribe(): Record<string, unknown> {
  const { models, ...config } = liveModels(UPSTREAM_URL) as { models: object[] };
  const scribe = {
    id: "test/scribe",
    output_modalities: ["transcription"],
    pricings: { audio: [{ value: SECOND_COST / 1e9, unit: "perSecond", currency: "USD" }] },
    offers: ["up-realtime", "up-other"].map((provider) => ({ provider, model: "upstream-scribe" })),
  };
  return { ...config, models: [...models, scribe] };
}

/** Events of a host that writes down what the user says. */
export const scribe = {
  settings: (type: "session.created" | "session.updated", model = "upstream-scribe") => {
    const { session } = realtime.created();
    const { turn_detection, ...input } = session.audio.input;
    const detection = { ...turn_detection, create_response: false };
    const audio = { ...session.audio, input: { ...input, turn_detection: detection, transcription: { model } } };
    return { type, event_id: "s", session: { ...session, audio } };
  },
  committed: (item: string) => ({
    type: "input_audio_buffer.committed",
    event_id: `c_${item}`,
    previous_item_id: null,
    item_id: item,
  }),
  delta: (item: string, delta: string) => ({
    type: "conversation.item.input_audio_transcription.delta",
    event_id: `d_${item}`,
    item_id: item,
    content_index: 0,
    delta,
  }),
  completed: (item: string, usage: object | null = SECONDS_USAGE) => ({
    type: "conversation.item.input_audio_transcription.completed",
    event_id: `t_${item}`,
    item_id: item,
    content_index: 0,
    transcript: `What ${item} says.`,
    ...(usage && { usage }),
  }),
};

/** A host whose sessions write down what is said from their beginning. */
export const scribeHost = (): HostScript => ({
  ...realtimeHost(),
  asked: (host) => {
    host.accept();
    host.say(scribe.settings("session.created"));
  },
  heard: (host, event) => {
    if (event["type"] === "session.update") host.say(scribe.settings("session.updated"));
  },
});

/** A key with limits, and a session of it in which the host writes down what is said and nothing answers. */
export class ScribeSession {
  readonly harness: Harness;
  readonly client: LiveClient;
  readonly key: { id: string; key: string };

  private constructor(harness: Harness, client: LiveClient, key: { id: string; key: string }) {
    this.harness = harness;
    this.client = client;
    this.key = key;
  }

  static async open(
    { limits = {}, model = "test/realtime", models }: { limits?: Limits; model?: string; models?: string[] } = {},
    { config = {}, hosts = [scribeHost()] }: { config?: object; hosts?: readonly HostScript[] } = {},
  ): Promise<ScribeSession> {
    const harness = await Harness.start({ config: { ...modelsWithScribe(), ...config } });
    harness.sockets.play(...hosts);
    const { clock, gateway, machine, storage } = harness;
    const asked = { name: "k", project: "default", limits, ...(models && { models }) };
    const key = await createKey(storage, asked, { clock, random: machine.random }, { who: "test" });
    await gateway.keys.refresh();
    const client = await harness.openLive(`/v1/realtime?model=${model}`, { key: key.key });
    await client.hears("session.created");
    return new ScribeSession(harness, client, key);
  }

  get host(): MemoryHost {
    return this.harness.sockets.host;
  }

  /** The user says something, which the host writes down. */
  async dictate(item: string, usage?: object | null): Promise<void> {
    this.client.say(realtime.speech(3));
    this.host.say(scribe.committed(item), scribe.completed(item, usage));
    await this.harness.clock.pass(10);
  }

  /** The words that the client has seen. */
  get heard(): unknown[] {
    return this.client.events
      .filter(({ type }) => type === "conversation.item.input_audio_transcription.completed")
      .map(({ transcript }) => transcript);
  }

  /** The types of errors that it has seen. */
  get errors(): unknown[] {
    return this.client.events
      .filter(({ type }) => type === "error")
      .map(({ error }) => (error as Partial<GatewayError> & { type: string }).type);
  }

  /** Every receipt so far, those of refused work too, oldest first. */
  async bills(): Promise<{ outcome: string; cost: number; model: string; source: string }[]> {
    const rows = await this.harness.storage.query(
      "SELECT outcome, cost_nano_usd, model, usage_source FROM receipts ORDER BY id",
    );
    return rows.map((row) => ({
      outcome: String(row["outcome"]),
      cost: Number(row["cost_nano_usd"]),
      model: String(row["model"]),
      source: String(row["usage_source"]),
    }));
  }
}
