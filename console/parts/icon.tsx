/** Stroke paths on a 20 by 20 grid. */
const PATHS = {
  overview: "M3 10h3l2-5 4 10 2-5h3",
  calls: "M4 5h12M4 10h12M4 15h8",
  usage: "M4 16V9M8 16V4M12 16v-5M16 16V7",
  play: "M6 4.5v11l9-5.5z",
  models: "M10 3l6 3.5v7L10 17l-6-3.5v-7zM4 6.5l6 3.5 6-3.5M10 10v7",
  providers: "M4 5h12v4H4zM4 11h12v4H4zM7 7h.01M7 13h.01",
  keys: "M12.5 3.5a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM9.5 10.5 4 16v.5h2.5V15H8v-1.5h1.5",
  people:
    "M7.5 4.5a2.75 2.75 0 1 0 0 5.5 2.75 2.75 0 0 0 0-5.5zM2.5 16c0-2.8 2.2-4.5 5-4.5s5 1.7 5 4.5M13 5a2.5 2.5 0 0 1 0 5M14.5 11.8c1.9.5 3 2 3 4.2",
  users: "M10 10a3.2 3.2 0 1 0 0-6.4A3.2 3.2 0 0 0 10 10zM4 16.5a6 6 0 0 1 12 0",
  operations: "M10 4a6 6 0 1 1-5.2 3M4 4v3h3M10 7v3l2 2",
  live: "M10 3a2.5 2.5 0 0 0-2.5 2.5V10a2.5 2.5 0 0 0 5 0V5.5A2.5 2.5 0 0 0 10 3zM4.5 9.5a5.5 5.5 0 0 0 11 0M10 15v2.5",
  batches: "M10 3l7 3.5-7 3.5-7-3.5zM3 10l7 3.5 7-3.5M3 13.5 10 17l7-3.5",
  files: "M3 5h5l2 2h7v9H3z",
  caches: "M4 6c0-1.7 12-1.7 12 0s-12 1.7-12 0zM4 6v8c0 1.7 12 1.7 12 0V6M4 10c0 1.7 12 1.7 12 0",
  config: "M4 6h6M14 6h2M4 14h2M10 14h6M12 4v4M8 12v4",
  guards: "M10 2.5 16 5v4.5c0 4-2.5 6.6-6 8-3.5-1.4-6-4-6-8V5l6-2.5M7.2 9.8l2 2 3.6-3.8",
  alerts: "M5.5 14V9a4.5 4.5 0 0 1 9 0v5M4 14h12M8.5 16.5a1.6 1.6 0 0 0 3 0",
  exports: "M4 9v7h12V9M10 12V3M6.5 6.5 10 3l3.5 3.5",
  refused: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM5.2 5.2l9.6 9.6",
  link: "M8 12l4-4M7 9.5 5.2 11.3a3 3 0 0 0 4.2 4.2L11 13.8M13 10.5l1.8-1.8a3 3 0 0 0-4.2-4.2L9 6.2",
  star: "M10 3.2l2.1 4.3 4.7.7-3.4 3.3.8 4.7-4.2-2.2-4.2 2.2.8-4.7L3.2 8.2l4.7-.7z",
  up: "M5 12l5-5 5 5",
  down: "M5 8l5 5 5-5",
  warn: "M10 3.5 17.5 16.5h-15zM10 8v4M10 14.2h.01",
  stop: "M5 5h10v10H5z",
  audit: "M5 3h7l3 3v11H5zM8 9h4M8 12h4",
  copy: "M7 7h9v9H7zM4 13V4h9",
  close: "M5 5l10 10M15 5L5 15",
  search: "M9 4a5 5 0 1 0 0 10A5 5 0 0 0 9 4zM13 13l4 4",
  next: "M8 5l5 5-5 5",
  back: "M12 5l-5 5 5 5",
  sun: "M10 7a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.4 1.4M14.3 14.3l1.4 1.4M4.3 15.7l1.4-1.4M14.3 5.7l1.4-1.4",
  moon: "M16 12.5A6.5 6.5 0 0 1 7.5 4 6.5 6.5 0 1 0 16 12.5z",
  system: "M3 4h14v9H3zM8 17h4M10 13v4",
  exit: "M8 4H4v12h4M12 7l3 3-3 3M15 10H8",
  table: "M3 4h14v12H3zM3 8h14M3 12h14M8 4v12",
  menu: "M3 6h14M3 10h14M3 14h14",
  plus: "M10 4v12M4 10h12",
  download: "M10 3v9M6.5 8.5 10 12l3.5-3.5M4 16h12",
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name, size = 18 }: { name: IconName; size?: number }) => (
  <svg class="icon" viewBox="0 0 20 20" width={size} height={size} aria-hidden="true" focusable="false">
    <path d={PATHS[name]} />
  </svg>
);
