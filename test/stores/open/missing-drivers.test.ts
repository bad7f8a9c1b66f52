/** What the command line says if the driver of an address is not installed. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { program } from '../../runner/programs.ts';

/** Lets Node find everything but one package. */
function without(name: string): string {
  const hooks = `export async function resolve(specifier, context, next) {
    if (specifier === '${name}')
      throw Object.assign(new Error("Cannot find package '${name}' imported from here"), {
        code: 'ERR_MODULE_NOT_FOUND',
      });
    return next(specifier, context);
  }`;
  const url = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
  return url(`import { register } from 'node:module'; register(${JSON.stringify(url(hooks))});`);
}

test.each([
  ['pg', 'postgres://ann:s3cret@db/app', 'npm install pg@8'],
  ['ioredis', 'redis://:s3cret@cache', 'npm install ioredis@6'],
])('the package %s is named, with the line that installs it', (name, url, line) => {
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', without(name), program('src/cli/index.ts'), 'store', 'status', url],
    { encoding: 'utf8', env: { PATH: process.env.PATH ?? '' } },
  );
  expect(status).toBe(1);
  expect(stderr).toContain(`The package \`${name}\`, which a store on`);
  expect(stderr).toContain(`is not installed; run \`${line}\``);
  expect(stderr).not.toContain('s3cret');
});
