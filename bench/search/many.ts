/**
 * What searches cost among many tools, in time of the processor, since others may use the machine.
 */
import { wordsOf } from '../../src/parts/discovery/words.ts';
import type { ToolLine } from './data.ts';

const count = 10_000;

/** Makes a search over these tools. */
export type Make = (tools: readonly ToolLine[]) => (query: string) => unknown;

/** Prints what each search takes to read the tools, for questions, and for hostile queries. */
export async function measureMany(
  tools: readonly ToolLine[],
  questions: readonly string[],
  makers: Readonly<Record<string, Make>>,
): Promise<void> {
  const many = Array.from({ length: count }, (_, at): ToolLine => {
    const tool = tools[at % tools.length] as ToolLine;
    const round = Math.floor(at / tools.length);
    return round === 0 ? tool : { ...tool, name: `${tool.name}_v${round}` };
  });
  const common = commonest(tools, 64);
  // Words of six letters and more that are spelt with two differences.
  const misspelt = commonest(tools, 400)
    .filter((word) => word.length >= 6)
    .map((word) => `q${word.slice(1, 3)}q${word.slice(4)}`);
  const hostile = {
    'the 64 commonest words': common.join(' '),
    'misspelt words': misspelt.slice(0, 64).join(' '),
    both: [...common.slice(0, 56), ...misspelt.slice(0, 8)].join(' '),
  };
  console.log(`\nAmong ${count} tools, milliseconds of the processor:`);
  console.log(
    '| search | reads the tools | question, median | question, 99 % | ' +
      `${Object.keys(hostile).join(' | ')} |`,
  );
  console.log(`|---|---|---|---|${'---|'.repeat(Object.keys(hostile).length)}`);
  for (const [name, make] of Object.entries(makers)) {
    let search: ReturnType<Make> = () => undefined;
    const reading = cpuMs(() => {
      search = make(many);
      search('anything');
    });
    const times = questions.map((question) => cpuMs(() => search(question)));
    times.sort((a, b) => a - b);
    const worst = Object.values(hostile).map((query) =>
      Math.max(...Array.from({ length: 5 }, () => cpuMs(() => search(query)))),
    );
    const median = times[times.length >> 1] ?? 0;
    const most = times[Math.floor(times.length * 0.99)] ?? 0;
    console.log(
      `| ${name} | ${reading.toFixed(0)} | ${median.toFixed(1)} | ${most.toFixed(1)} | ` +
        `${worst.map((ms) => ms.toFixed(0)).join(' | ')} |`,
    );
  }
}

function commonest(tools: readonly ToolLine[], most: number): string[] {
  const counts = new Map<string, number>();
  for (const { name, description = '', parameters } of tools) {
    const text = `${name} ${description} ${JSON.stringify(parameters)}`;
    for (const stem of new Set(wordsOf(text, 2_000).map((word) => word.stem)))
      counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, most)
    .map(([stem]) => stem);
}

function cpuMs(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
