/**
 * Runs with each test file of a run that looks which tests reach what: writes down the marks that
 * the file passed.
 */
import { appendFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';

declare global {
  var mutateHits: Set<string> | undefined;
}

const target = process.env.MUTATE_HITS;

if (target !== undefined) {
  // At once, since what a file does while its tests are collected is reached too.
  globalThis.mutateHits = new Set();
  afterAll(() => {
    appendFileSync(
      target,
      `${JSON.stringify({ test: expect.getState().testPath, hits: [...(globalThis.mutateHits ?? [])] })}\n`,
    );
  });
}
