/** Voices that sound alike, as far as one can say. */
const ALIKE: readonly (readonly [realtime: string, live: string])[] = [
  ["alloy", "Zephyr"],
  ["ash", "Orus"],
  ["ballad", "Puck"],
  ["cedar", "Algieba"],
  ["coral", "Aoede"],
  ["echo", "Charon"],
  ["marin", "Sulafat"],
  ["sage", "Leda"],
  ["shimmer", "Kore"],
  ["verse", "Fenrir"],
];

/** Further voices of Live, so that a client of the other protocol can name them. */
const MORE_LIVE = [
  "Achernar",
  "Achird",
  "Algenib",
  "Alnilam",
  "Autonoe",
  "Callirrhoe",
  "Despina",
  "Enceladus",
  "Erinome",
  "Gacrux",
  "Iapetus",
  "Laomedeia",
  "Pulcherrima",
  "Rasalgethi",
  "Sadachbia",
  "Sadaltager",
  "Schedar",
  "Umbriel",
  "Vindemiatrix",
  "Zubenelgenubi",
];

/** How a voice is found among those of a host: by its own name in any case, or by one of the other protocol's. */
const LIVE = new Map([
  ...[...ALIKE.map(([, live]) => live), ...MORE_LIVE].map((name) => [name.toLowerCase(), name] as const),
  ...ALIKE,
]);
const REALTIME = new Map(ALIKE.flatMap(([own, live]) => [[own, own] as const, [live.toLowerCase(), own] as const]));

/** The host's voice for a client's, or undefined if there is none. */
export const voiceOf = (dialect: "realtime" | "live", name: string): string | undefined =>
  (dialect === "live" ? LIVE : REALTIME).get(name.toLowerCase());
