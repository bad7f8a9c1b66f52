/**
 * `npm run bench:search -- TOOLS QUESTIONS`: how often a search finds a tool that answers a question
 * among the first five or eight, averaged by tool, for our search and for others. The files have the
 * shape that `bench/search/data.ts` describes. Then what it costs among 10 000 tools, which are the
 * given ones under many names. `--missed` names the questions that ours misses.
 */
import { parseArgs } from 'node:util';
import { create, insertMultiple, search as searchOrama } from '@orama/orama';
import FlexSearch from 'flexsearch';
import lunr from 'lunr';
import MiniSearch, { type Options } from 'minisearch';
import { defineTool, HostToolRegistry } from '../src/index.ts';
import { toolText } from '../src/search/tool-text.ts';
import { wordsOf } from '../src/search/words.ts';
import { distinctTools, type QuestionLine, readLines, type ToolLine } from './search/data.ts';
import { measureMany } from './search/many.ts';

const { values, positionals } = parseArgs({
  options: { missed: { type: 'boolean' } },
  allowPositionals: true,
});
const [toolsPath, questionsPath] = positionals;
if (toolsPath === undefined || questionsPath === undefined)
  throw new Error('bench:search: expected two files: the tools, and the questions.');
const questions = await readLines<QuestionLine>(questionsPath);
const allTools = await readLines<ToolLine>(toolsPath);
const tools = distinctTools(allTools, questions);
const nameOf = new Map(allTools.map(({ id, name }) => [id, name]));

const documentsOf = (some: readonly ToolLine[]) =>
  some.map(({ name, description = '', parameters }) => ({
    id: name,
    ...toolText({ name, description, tags: [], parameters: parameters as never }),
  }));
const fields = ['name', 'description', 'parameters', 'details', 'values'];

type Search = (query: string) => Promise<readonly string[]> | readonly string[];

function registryOf(some: readonly ToolLine[]): HostToolRegistry {
  const made = new HostToolRegistry();
  for (const { name, description = '', parameters } of some)
    made.register(
      defineTool({ name, description, parameters: { ...parameters }, handler: () => null }),
    );
  return made;
}
const registry = registryOf(tools);
const session = registry.createSession({ sessionId: 'bench' });

function mini(searched: readonly string[], options: Partial<Options> = {}, of = tools): Search {
  const index = new MiniSearch({ fields: [...searched], ...options });
  index.addAll(documentsOf(of));
  return (query) => index.search(query).map(({ id }) => String(id));
}

/** The library with everything that we chose by hand: stems, split names, stop words, boosts. */
const ourWords: Partial<Options> = {
  tokenize: (text) => [...new Set(wordsOf(text, 2_000).map(({ stem }) => stem))],
  processTerm: (stem) => stem,
  searchOptions: { boost: { name: 2, description: 2 } },
};

function lunrSearch(): Search {
  const index = lunr(function build() {
    this.ref('id');
    for (const field of fields) this.field(field);
    for (const document of documentsOf(tools)) this.add(document);
  });
  const safe = (query: string): string => query.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim();
  return (query) => index.search(safe(query)).map(({ ref }) => ref);
}

function flex(): Search {
  const index = new FlexSearch.Document({
    document: { id: 'id', index: fields },
    tokenize: 'forward',
  });
  for (const document of documentsOf(tools)) index.add(document);
  return (query) => {
    const found = index.search(query, { limit: 50, suggest: true });
    return [...new Set(found.flatMap(({ result }) => result.map(String)))];
  };
}

async function orama(): Promise<Search> {
  const index = create({
    schema: { id: 'string', ...Object.fromEntries(fields.map((field) => [field, 'string'])) },
    components: { tokenizer: { stemming: true, language: 'english' } },
  });
  await insertMultiple(index, documentsOf(tools) as never);
  return async (query) => {
    const { hits } = await searchOrama(index, { term: query, limit: 8 });
    return hits.map(({ id }) => id);
  };
}

const candidates: readonly (readonly [name: string, search: Search])[] = [
  ['session.search', (query) => session.search(query).map(({ name }) => name)],
  ['minisearch, our words and boosts', mini(fields, ourWords)],
  ['minisearch, its defaults, all fields', mini(fields)],
  ['minisearch, its defaults, name and description', mini(['name', 'description'])],
  ['lunr, its defaults, all fields', lunrSearch()],
  ['orama, English stems, all fields', await orama()],
  ['flexsearch, all fields', flex()],
];

/** Shares by the first tool of each question, so that a tool with many questions counts once. */
async function judge(search: Search, isOurs: boolean) {
  const byTool = new Map<string, { asked: number; five: number; eight: number }>();
  const times: number[] = [];
  for (const { question, tools: wanted, also = [], twins = {}, script } of questions) {
    if (script === 'other') continue;
    const right = new Set(
      [...wanted, ...also.flat()]
        .flatMap((id) => [id, ...(twins[id] ?? [])])
        .map((id) => nameOf.get(id) ?? id),
    );
    const start = performance.now();
    const found = (await search(question.slice(0, 4_096))).slice(0, 8);
    times.push(performance.now() - start);
    const place = found.findIndex((name) => right.has(name));
    const key = wanted[0] ?? '';
    const counts = byTool.get(key) ?? { asked: 0, five: 0, eight: 0 };
    counts.asked++;
    if (place >= 0) counts.eight++;
    if (place >= 0 && place < 5) counts.five++;
    byTool.set(key, counts);
    if (isOurs && values.missed === true && place < 0)
      console.log(`missed ${[...right].join(', ')}: ${question.slice(0, 160)}`);
  }
  const share = (of: 'five' | 'eight'): number =>
    [...byTool.values()].reduce((sum, counts) => sum + counts[of] / counts.asked, 0) / byTool.size;
  times.sort((a, b) => a - b);
  return { five: share('five'), eight: share('eight'), ms: times[times.length >> 1] ?? 0 };
}

console.log(`${tools.length} tools, ${questions.length} questions`);
console.log('| search | right tool in first 5 | in first 8 | median ms |\n|---|---|---|---|');
for (const [name, search] of candidates) {
  const { five, eight, ms } = await judge(search, name === 'session.search');
  const percent = (part: number): string => `${(100 * part).toFixed(1)} %`;
  console.log(`| ${name} | ${percent(five)} | ${percent(eight)} | ${ms.toFixed(2)} |`);
}

/** What a model reads, at a token for each four characters. */
const tokens = (listed: readonly { name: string; description: string; inputSchema: object }[]) =>
  Math.ceil(
    listed.reduce(
      (sum, { name, description, inputSchema }) =>
        sum + JSON.stringify({ name, description, parameters: inputSchema }).length,
      0,
    ) / 4,
  );
const whole = tokens(session.tools());
const saved: number[] = [];
for (const { question } of questions) {
  const finding = registry.createSession({ sessionId: 'finding', discovery: {} });
  await finding.call('find_tools', { query: question.slice(0, 4_096) });
  saved.push(1 - tokens(finding.tools()) / whole);
}
saved.sort((a, b) => a - b);
console.log(
  `All tools: ${whole} tokens. After one question: ` +
    `${(100 * (saved[saved.length >> 1] ?? 0)).toFixed(1)} % fewer (median).`,
);

await measureMany(
  tools,
  questions.map(({ question }) => question.slice(0, 4_096)),
  {
    'session.search': (many) => {
      const found = registryOf(many).createSession({ sessionId: 'many' });
      found.tools();
      return (query) => found.search(query);
    },
    'minisearch, our words and boosts': (many) => mini(fields, ourWords, many),
    'minisearch, its defaults, all fields': (many) => mini(fields, {}, many),
  },
);
