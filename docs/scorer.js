// The order of search results: pages for users first, then examples and results, design notes last.
var Scorer = {
  score: ([docname, , , , score, , kind]) => {
    if (docname.startsWith("adr/") || docname.startsWith("mathematics/")) return score - 12;
    if (docname.startsWith("guide/") || docname === "quickstart") return score + 12;
    if (docname.startsWith("gallery/")) return score + 6;
    if (docname.startsWith("results/")) return score + 2;
    return kind === "object" && score < 20 ? score - 8 : score; // Parts of names, such as .counts
  },
  // What follows are Sphinx's own numbers, which a file of its own must repeat.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
