import type { Context } from 'hotcell';

interface SaveArguments {
  /** Title; saving the same title again replaces the note */
  title: string;
  /** Text of the note */
  text: string;
  /** Words to find the note by */
  tags?: string[];
}

interface FindArguments {
  /** Words that title, text or tags must contain, all of them; without it every note is listed */
  query?: string;
  /** Only notes with this tag */
  tag?: string;
  /** How many notes to answer; default 20 */
  limit?: number;
}

interface Note {
  readonly title: string;
  readonly text: string;
  readonly tags: string[];
  readonly savedAt: string;
}

const prefix = 'note:';
const maxTextLength = 50_000;

/** Notes live in `context.kv`: each caller has its own, and they survive reloads and restarts. */
export default {
  name: 'notes',
  version: '1.0.0',
  description: 'A notebook that lasts.',
  tags: ['memory'],
  permissions: { kv: true },
  tools: {
    note_save: {
      description: 'Saves a note under a title, in place of one with the same title. Use when something must be remembered.',
      isSideEffect: true,
      examples: [
        {
          args: { title: 'Example note', text: 'Tea at five', tags: ['Home'] },
          expect: { saved: 'Example note', replaced: false },
        },
      ],
      handler: async ({ title, text, tags = [] }: SaveArguments, { kv }: Context) => {
        const key = toKey(title);
        if (text.length > maxTextLength)
          throw new RangeError(`A note may have ${maxTextLength} characters; this one has ${text.length}.`);
        const replaced = (await kv.get(key)) !== null;
        const note: Note = {
          title: title.trim(),
          text,
          tags: tags.map((tag) => tag.toLowerCase()),
          savedAt: new Date().toISOString(),
        };
        await kv.set(key, note);
        return { saved: note.title, replaced };
      },
    },
    note_find: {
      description: 'Lists the notes that contain all words of a query, newest first. Use before answering about what was noted.',
      examples: [{ args: { query: 'no such words' }, expect: { total: 0, notes: [] } }],
      handler: async ({ query = '', tag, limit = 20 }: FindArguments, { kv }: Context) => {
        const words = query.toLowerCase().split(/\s+/).filter(Boolean);
        const found = (await readNotes(kv)).filter((note) => {
          const content = [note.title, note.text, ...note.tags].join(' ').toLowerCase();
          return words.every((word) => content.includes(word)) && (tag === undefined || note.tags.includes(tag.toLowerCase()));
        });
        const newestFirst = found.toSorted((a, b) => (a.savedAt < b.savedAt ? 1 : -1));
        return { total: found.length, notes: newestFirst.slice(0, Math.max(0, limit)) };
      },
    },
    note_delete: {
      description: 'Deletes the note with a title. Use when a note is no longer wanted.',
      isSideEffect: true,
      examples: [{ args: { title: 'No such note' }, expect: { deleted: false } }],
      handler: async ({ title }: { title: string }, { kv }: Context) => ({ deleted: await kv.delete(toKey(title)) }),
    },
  },
};

function toKey(title: string): string {
  const name = title.trim().toLowerCase().replace(/\s+/g, ' ');
  if (name === '' || name.length > 200) throw new RangeError('A title needs 1 to 200 characters.');
  return prefix + name;
}

async function readNotes(kv: Context['kv']): Promise<Note[]> {
  const notes: Note[] = [];
  for (let after: string | undefined; ; ) {
    const page = await kv.list<Note>(after === undefined ? { prefix } : { prefix, after });
    notes.push(...page.items.map((item) => item.value));
    after = page.next;
    if (after === undefined) return notes;
  }
}
