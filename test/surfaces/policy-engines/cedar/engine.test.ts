import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { loadCedar } from '../../../../src/surfaces/policy-engines/cedar/policy-set.ts';

const load = createRequire(import.meta.url);

test('the engine is loaded once for the process', () => {
  expect(loadCedar()).toBe(loadCedar());
});

test('without the package, the error says how to install it', () => {
  const absent = (): never => load('@cedar-policy/absent') as never;
  expect(() => loadCedar(() => absent())).toThrow(
    expect.objectContaining({ code: 'missing_dependency' }),
  );
  expect(() =>
    loadCedar((specifier) => {
      throw Object.assign(new Error(`Cannot find module '${specifier}'`), {
        code: 'MODULE_NOT_FOUND',
      });
    }),
  ).toThrow(/npm install @cedar-policy\/cedar-wasm@4`$/);
});
