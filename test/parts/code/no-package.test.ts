/** Code mode where its package is not installed: said where the session is made. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const src = new URL('../../../src/', import.meta.url);
const url = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
const hooks = `export async function resolve(specifier, context, next) {
  if (specifier === 'run')
    throw Object.assign(new Error("Cannot find package 'run' imported from here"), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
  return next(specifier, context);
}`;
const without = url(
  `import { register } from 'node:module'; register(${JSON.stringify(url(hooks))});`,
);

const program = `
import { HostToolRegistry } from '${src}index.ts';
const registry = new HostToolRegistry();
registry.createSession({ sessionId: 'plain' });
try {
  registry.createSession({ sessionId: 'programs', code: {} });
  console.log('made');
} catch ({ code, message }) {
  console.log(code, message);
}
const { HostToolRegistry: Core } = await import('${src}core.ts');
const { codeMode } = await import('${src}parts/code/part.ts');
const parts = [codeMode({ runner: { run: async () => ({ ok: true, value: '1' }) } })];
new Core({ parts }).createSession({ sessionId: 'own', code: {} });
console.log('made with another runner');
`;

test.each([
  [
    'is named with the line that installs it',
    ['--import', without],
    [
      'missing_dependency createSession: the package `run`, which runs programs, is not ' +
        'installed; run `npm install run`.',
      'made with another runner',
    ],
  ],
  ['is not missed where it is', [], ['made', 'made with another runner']],
])('the package %s', (_, more, expected) => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), ...more, '--input-type=module', '--eval', program],
    { encoding: 'utf8', cwd: new URL('../../../', import.meta.url) },
  );
  expect(stderr).toBe('');
  expect(stdout.trim().split('\n')).toEqual(expected);
});
