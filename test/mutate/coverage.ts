/** Which test files reach which statements, and how long they take. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { slowdown } from './busy.ts';
import { Cache, digest } from './cache.ts';
import { marked } from './marks.ts';
import type { Worker } from './worker.ts';

export interface Reach {
  /** On an idle machine. */
  readonly durationMs: number;
  /** Places of marks, by source file. */
  readonly hits: Readonly<Record<string, readonly number[]>>;
}

/**
 * Runs each test file once over sources with marks. What is known of a test file is kept while
 * neither it nor the sources change.
 */
export async function reachOf(
  worker: Worker,
  texts: Readonly<Record<string, string>>,
  folder: string,
  fresh: boolean,
): Promise<Map<string, Reach>> {
  const cache = new Cache<Reach>(resolve(folder, 'reach.json'), fresh);
  const sources = digest(...Object.entries(texts).flat());
  const keyOf = (test: string): string => digest(sources, test, readFileSync(test, 'utf8'));
  const missing = worker.tests.filter((test) => cache.get(keyOf(test)) === undefined);
  if (missing.length > 0) {
    console.log(`Looking what each of ${missing.length} test files reaches …`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(worker.hitsPath, '');
    const withMarks = Object.fromEntries(
      Object.entries(texts).map(([file, text]) => [file, marked(file, text)]),
    );
    const answer = await worker.run({ texts: withMarks, tests: missing, all: true }, 1_800_000);
    if (answer === undefined) throw new Error('The first run, without any mutant, did not end.');
    const failed = new Set(answer.failed);
    const busy = slowdown();
    if (failed.size > 0)
      console.log(`Left out, since they fail without any mutant: ${[...failed].join(', ')}`);
    for (const line of readFileSync(worker.hitsPath, 'utf8').split('\n')) {
      if (line === '') continue;
      const { test, hits } = JSON.parse(line) as { test: string; hits: string[] };
      const path = relative(process.cwd(), test);
      if (!failed.has(path))
        cache.set(keyOf(path), {
          durationMs: (answer.durations[path] ?? 0) / busy,
          hits: byFile(hits),
        });
    }
    cache.save();
  }
  return new Map(
    worker.tests.flatMap((test) => {
      const reach = cache.get(keyOf(test));
      return reach === undefined ? [] : [[test, reach] as const];
    }),
  );
}

function byFile(hits: readonly string[]): Record<string, number[]> {
  const places: Record<string, number[]> = {};
  for (const hit of hits) {
    const colon = hit.lastIndexOf(':');
    const file = hit.slice(0, colon);
    places[file] ??= [];
    places[file].push(Number(hit.slice(colon + 1)));
  }
  return places;
}
