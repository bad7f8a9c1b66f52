/** The searches that ours is compared with. They are installed in `bench/`, and left out if not. */
import type { Options } from 'minisearch';
import { toolText } from '../../src/parts/discovery/tool-text.ts';
import { wordsOf } from '../../src/parts/discovery/words.ts';
import type { ToolLine } from './data.ts';

/** The names of the tools that a query finds, best first. */
export type Search = (query: string) => Promise<readonly string[]> | readonly string[];

/** Makes searches over some tools, by their names in the table. */
export type Others = Readonly<
  Record<string, (tools: readonly ToolLine[]) => Promise<Search> | Search>
>;

const fields = ['name', 'description', 'parameters', 'details', 'values'];

const documentsOf = (tools: readonly ToolLine[]) =>
  tools.map(({ name, description = '', parameters }) => ({
    id: name,
    ...toolText({ name, description, tags: [], parameters: parameters as never }),
  }));

/** Undefined, and a note, without `npm ci` in `bench/`. */
export async function loadOthers(): Promise<Others | undefined> {
  try {
    return {
      ...(await miniSearches()),
      ...(await lunrSearch()),
      ...(await orama()),
      ...(await flex()),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    console.log('The libraries to compare with are not installed. Run `npm ci` in bench/ first.');
    return undefined;
  }
}

/** The library with everything that we chose by hand: stems, split names, stop words, boosts. */
const ourWords: Partial<Options> = {
  tokenize: (text) => [...new Set(wordsOf(text, 2_000).map(({ stem }) => stem))],
  processTerm: (stem) => stem,
  searchOptions: { boost: { name: 2, description: 2 } },
};

async function miniSearches(): Promise<Others> {
  const { default: MiniSearch } = await import('minisearch');
  const make =
    (searched: readonly string[], options: Partial<Options> = {}) =>
    (tools: readonly ToolLine[]): Search => {
      const index = new MiniSearch({ fields: [...searched], ...options });
      index.addAll(documentsOf(tools));
      return (query) => index.search(query).map(({ id }) => String(id));
    };
  return {
    'minisearch, our words and boosts': make(fields, ourWords),
    'minisearch, its defaults, all fields': make(fields),
    'minisearch, its defaults, name and description': make(['name', 'description']),
  };
}

async function lunrSearch(): Promise<Others> {
  const { default: lunr } = await import('lunr');
  const safe = (query: string): string => query.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim();
  return {
    'lunr, its defaults, all fields': (tools) => {
      const index = lunr(function build() {
        this.ref('id');
        for (const field of fields) this.field(field);
        for (const document of documentsOf(tools)) this.add(document);
      });
      return (query) => index.search(safe(query)).map(({ ref }) => ref);
    },
  };
}

async function flex(): Promise<Others> {
  const { default: FlexSearch } = await import('flexsearch');
  return {
    'flexsearch, all fields': (tools) => {
      const index = new FlexSearch.Document({
        document: { id: 'id', index: fields },
        tokenize: 'forward',
      });
      for (const document of documentsOf(tools)) index.add(document);
      return (query) => {
        const found = index.search(query, { limit: 50, suggest: true });
        return [...new Set(found.flatMap(({ result }) => result.map(String)))];
      };
    },
  };
}

async function orama(): Promise<Others> {
  const { create, insertMultiple, search } = await import('@orama/orama');
  return {
    'orama, English stems, all fields': async (tools) => {
      const index = create({
        schema: { id: 'string', ...Object.fromEntries(fields.map((field) => [field, 'string'])) },
        components: { tokenizer: { stemming: true, language: 'english' } },
      });
      await insertMultiple(index, documentsOf(tools) as never);
      return async (query) => {
        const { hits } = await search(index, { term: query, limit: 8 });
        return hits.map(({ id }) => id);
      };
    },
  };
}
