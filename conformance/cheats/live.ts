import type { Limits } from "../../src/access/limits.ts";
import { LIVE_COST, live, liveHost, REALTIME_COST, realtime } from "../../testing/live/live-hosts.ts";
import type { HostScript } from "../../testing/live/memory-sockets.ts";
import { ScribeSession, SECOND_COST, scribe } from "../../testing/live/scribe-session.ts";
import type { Cheat, CheatGroup, Outcome } from "./cheat.ts";

const SAID = 3 * SECOND_COST;
const BUDGET = { budgetUsdTotal: (2.5 * SAID) / 1e9 };

interface Played {
  got: string;
  /** What the host bills. */
  upstream: number;
  isMore?: boolean;
}

interface Setting {
  limits?: Limits;
  model?: string;
  hosts?: readonly HostScript[];
}

/** A cheat in a session whose host writes down what is said, in a gateway in memory. */
const cheat = (
  id: string,
  tries: string,
  { hosts, ...key }: Setting,
  play: (session: ScribeSession) => Promise<Played>,
): Cheat => ({
  id,
  tries,
  run: async (): Promise<Outcome> => {
    const session = await ScribeSession.open(key, hosts === undefined ? {} : { hosts });
    const { isMore = false, ...played } = await play(session);
    session.client.leave();
    // What goes on without its client is billed too.
    await session.harness.clock.pass(60_000);
    const ledger = (await session.bills()).reduce((sum, { cost }) => sum + cost, 0);
    return { ...played, ledger, ...(isMore ? { broken: "it got more than it may" } : {}) };
  },
});

/** Speech is written down, again and again. Returns how often the client got the words, and what the host bills. */
async function dictate(session: ScribeSession, times: number, most: number): Promise<Played> {
  for (let at = 0; at < times; at++) await session.dictate(`item_${at}`);
  const got = session.heard.length;
  return { got: `${got} transcripts`, upstream: times * SAID, isMore: got > most };
}

/** Frames that arrive faster than anyone speaks. */
async function flood(session: ScribeSession, send: (at: number) => void): Promise<Played> {
  for (let at = 0; at < 300_000 && session.client.closed === undefined; at++) send(at);
  await session.harness.clock.pass(10);
  const frames = session.host.frames.length;
  return { got: `${session.client.closed?.code}, ${frames} frames`, upstream: 0, isMore: frames > 1_000 };
}

/** What a live session can be charged for besides its responses, and what its host reports twice or late. */
export async function openLive(): Promise<CheatGroup> {
  const usage = (live.done() as { usageMetadata: object }).usageMetadata;
  return {
    atOnce: true,
    close: async () => {},
    cheats: [
      cheat(
        "H59",
        "dictating without responses past the requests of a minute",
        { limits: { requestsPerMinute: 3 } },
        (session) => dictate(session, 10, 2),
      ),
      cheat("H59", "dictating without responses past a budget", { limits: BUDGET }, (session) =>
        dictate(session, 10, 2),
      ),
      cheat("H59", "dictating in a second session past the budget of both", { limits: BUDGET }, async (session) => {
        const { got, upstream } = await dictate(session, 2, 2);
        const other = await session.harness.openLive("/v1/realtime?model=test/realtime", { key: session.key.key });
        await other.hears("session.created");
        other.say(realtime.speech(3));
        session.host.say(scribe.committed("item_x"), scribe.completed("item_x"));
        await session.harness.clock.pass(10);
        const more = other.events.some(({ type }) => type.endsWith("transcription.completed"));
        other.leave();
        return { got: `${got}, then ${more}`, upstream: upstream + SAID, isMore: more };
      }),
      cheat("H59", "hanging up after each word, before the host reports what it costs", {}, async (session) => {
        session.client.say(realtime.speech(3));
        session.host.say(scribe.committed("item_1"), scribe.delta("item_1", "What"));
        await session.harness.clock.pass(10);
        return { got: "a word", upstream: SAID };
      }),
      cheat("H59", "dictating at a host that reports no usage", {}, async (session) => {
        for (const item of ["item_1", "item_2"]) await session.dictate(item, null);
        return { got: `${session.heard.length} transcripts`, upstream: 2 * SAID };
      }),
      cheat("H59", "work under a name that the gateway does not know", {}, async (session) => {
        const { usage: counted } = realtime.done("resp_1").response;
        session.host.say({ type: "session.dream.done", event_id: "d", item_id: "item_1", usage: counted });
        await session.harness.clock.pass(10);
        return { got: "a dream", upstream: REALTIME_COST };
      }),
      cheat("H59", "speaking on after a refusal", { limits: BUDGET }, async (session) => {
        const { upstream } = await dictate(session, 3, 2);
        for (let at = 0; at < 9; at++) session.client.say(realtime.speech(3));
        const passed = session.host.ofType("input_audio_buffer.append").length - 3;
        return { got: `${passed} frames of speech`, upstream, isMore: passed > 0 };
      }),
      cheat(
        "H60",
        "usage of a Live session that belongs to no turn",
        { model: "test/live", hosts: [liveHost()] },
        async (session) => {
          session.client.say({ type: "session.update", session: { type: "realtime", instructions: "Be brief." } });
          session.client.say(realtime.speech(1));
          await session.harness.clock.pass(10);
          session.host.say({ usageMetadata: usage });
          await session.harness.clock.pass(10);
          return { got: "nothing", upstream: LIVE_COST };
        },
      ),
      cheat("S25", "300,000 tiny frames", {}, (session) => flood(session, () => session.client.say("{}"))),
      cheat("S25", "300,000 pings", {}, (session) => flood(session, () => session.client.ping())),
    ],
  };
}
