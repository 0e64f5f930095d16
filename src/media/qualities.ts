/** The levels of quality that any model knows (contract 2.4, and those of newer and older models). */
export const QUALITIES = ["low", "medium", "high", "auto", "xhigh", "max", "standard", "hd"] as const;
