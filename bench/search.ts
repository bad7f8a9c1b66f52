/**
 * `npm run bench:search -- TOOLS QUESTIONS`: how often a search finds a tool that answers a
 * question among the first five or eight, averaged by tool, for our search and for others. The
 * files have the shape that `bench/search/data.ts` describes. Then what it costs among 10 000
 * tools, which are the given ones under many names. `--missed` names the questions that ours
 * misses. Without `npm ci` in `bench/` it prints the figures of ours alone.
 */
import { parseArgs } from 'node:util';
import { defineTool, HostToolRegistry } from '../src/index.ts';
import { distinctTools, type QuestionLine, readLines, type ToolLine } from './search/data.ts';
import { type Make, measureMany } from './search/many.ts';
import { loadOthers, type Search } from './search/others.ts';

const { values, positionals } = parseArgs({
  options: { missed: { type: 'boolean' } },
  allowPositionals: true,
});
const [toolsPath, questionsPath] = positionals;
if (toolsPath === undefined || questionsPath === undefined) {
  console.error(
    'Usage: npm run bench:search -- TOOLS QUESTIONS [--missed]\n' +
      'Both are files of JSON lines; bench/search/data.ts says what is in a line.',
  );
  process.exit(2);
}
const questions = await readLines<QuestionLine>(questionsPath);
const allTools = await readLines<ToolLine>(toolsPath);
const tools = distinctTools(allTools, questions);
const nameOf = new Map(allTools.map(({ id, name }) => [id, name]));

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

const others = (await loadOthers()) ?? {};
const candidates: [name: string, search: Search][] = [
  ['session.search', (query) => session.search(query).map(({ name }) => name)],
];
for (const [name, make] of Object.entries(others)) candidates.push([name, await make(tools)]);

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

const makers: Record<string, Make> = {
  'session.search': (many) => {
    const found = registryOf(many).createSession({ sessionId: 'many' });
    found.tools();
    return (query) => found.search(query);
  },
};
// The others take minutes.
for (const [name, make] of Object.entries(others))
  if (name.startsWith('minisearch') && name.endsWith('s')) makers[name] = make as Make;
await measureMany(
  tools,
  questions.map(({ question }) => question.slice(0, 4_096)),
  makers,
);
