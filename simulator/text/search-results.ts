export interface SearchResult {
  title: string;
  url: string;
  /** The sentence that the answer cites. */
  quote: string;
}

/** Nothing is searched: these pages do not exist, and their names say so. */
export function searchResults(query: string): readonly [SearchResult, SearchResult] {
  return [
    {
      title: "Simulated result one (example.org)",
      url: "https://example.org/simulated/one",
      quote: `The first simulated page says that “${query}” was asked for.`,
    },
    {
      title: "Simulated result two (example.org)",
      url: "https://example.org/simulated/two",
      quote: "The second simulated page agrees with the first — naïvely.",
    },
  ];
}
