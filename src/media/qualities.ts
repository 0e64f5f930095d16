/** The levels of quality that any model knows (contract 2.4, and those of older models). */
export const QUALITIES = ["low", "medium", "high", "auto", "standard", "hd"] as const;
