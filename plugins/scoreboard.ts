/**
 * A board that all callers share. Its scores live in memory, so every call must reach the same cell: that is
 * `isolation: 'plugin'`. A cell shared by callers lets one see what another left, which is why it is a permission
 * (`sharedCell`) that an operator grants. Scores end with the daemon; what must last belongs into `context.kv`.
 */
interface PointsArguments {
  /** Board, such as the name of a game or a vote */
  board: string;
  /** Who gets the points */
  name: string;
  /** Points to add; negative takes away; default 1 */
  points?: number;
}

interface BoardArguments {
  /** Board to show */
  board: string;
  /** How many places to answer; default 10 */
  limit?: number;
}

type Boards = Record<string, Record<string, number>>;

const maxBoards = 100;
const maxNames = 1000;

let boards = new Map<string, Map<string, number>>();

export default {
  name: 'scoreboard',
  version: '1.0.0',
  description: 'Shared boards of scores, votes and counters.',
  tags: ['shared'],
  isolation: 'plugin',
  permissions: { sharedCell: true },
  tools: {
    score_add: {
      description:
        'Adds points for a name to a shared board and answers the new score and rank. Use for votes, scores and counters.',
      isSideEffect: true,
      examples: [{ args: { board: 'example', name: 'Ada', points: 0 } }],
      handler: ({ board, name, points = 1 }: PointsArguments) => {
        const scores = openBoard(board);
        if (!scores.has(name) && scores.size >= maxNames)
          throw new RangeError(`The board "${board}" holds ${maxNames} names and is full.`);
        scores.set(name, (scores.get(name) ?? 0) + points);
        const ranking = rank(scores);
        const place = ranking.findIndex((entry) => entry.name === name);
        return { board, ...ranking[place], rank: place + 1 };
      },
    },
    score_list: {
      description: 'Answers the ranking of a shared board, best first.',
      examples: [{ args: { board: 'nobody-plays-this' }, expect: { board: 'nobody-plays-this', names: 0, ranking: [] } }],
      handler: ({ board, limit = 10 }: BoardArguments) => {
        const scores = boards.get(board) ?? new Map<string, number>();
        return { board, names: scores.size, ranking: rank(scores).slice(0, Math.max(0, limit)) };
      },
    },
  },
  /** An edit of this file starts a new cell; the scores move into it. */
  onReload: (state?: Boards) => {
    if (state) boards = new Map(Object.entries(state).map(([name, scores]) => [name, new Map(Object.entries(scores))]));
    return Object.fromEntries([...boards].map(([name, scores]) => [name, Object.fromEntries(scores)]));
  },
};

function openBoard(name: string): Map<string, number> {
  const known = boards.get(name);
  if (known) return known;
  if (boards.size >= maxBoards) throw new RangeError(`There are ${maxBoards} boards already; no other can be opened.`);
  const scores = new Map<string, number>();
  boards.set(name, scores);
  return scores;
}

function rank(scores: Map<string, number>): { name: string; score: number }[] {
  return [...scores].map(([name, score]) => ({ name, score })).sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
}
