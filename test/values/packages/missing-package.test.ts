import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { packageFault } from '../../../src/values/packages/missing-package.ts';

const thrown = (code: string | undefined, message: string): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

describe('an optional package', () => {
  test.each<[what: string, thrown: unknown]>([
    [
      'by an import',
      thrown(
        'ERR_MODULE_NOT_FOUND',
        "Cannot find package 'pkg' imported from /app/node_modules/host-tools/dist/x.js",
      ),
    ],
    [
      'by a require',
      thrown('MODULE_NOT_FOUND', "Cannot find module 'pkg'\nRequire stack:\n- /app/x.js"),
    ],
    [
      'by a require of a part of it',
      thrown('MODULE_NOT_FOUND', "Cannot find module 'pkg/part'\nRequire stack:\n- /app/x.js"),
    ],
    ['by a loader that says no more than that', thrown('ERR_MODULE_NOT_FOUND', 'not found')],
  ])('that is not found %s is to be installed', (_, error) => {
    expect(packageFault('pkg', 'does things', error)).toMatchObject({
      name: 'MisuseError',
      code: 'missing_dependency',
      message: 'The package `pkg`, which does things, is not installed; run `npm install pkg`',
      cause: error,
    });
  });

  test.each<[what: string, thrown: unknown, reason: string]>([
    ['throws', new TypeError('no such export\nat x'), 'no such export'],
    [
      'lacks a package of its own',
      thrown(
        'ERR_MODULE_NOT_FOUND',
        "Cannot find package 'other' imported from /app/node_modules/pkg/x.js",
      ),
      "Cannot find package 'other' imported from /app/node_modules/pkg/x.js",
    ],
    [
      'lacks one whose name begins as its own',
      thrown('MODULE_NOT_FOUND', "Cannot find module 'pkg-core'"),
      "Cannot find module 'pkg-core'",
    ],
    [
      'lacks a file of its own',
      thrown('MODULE_NOT_FOUND', "Cannot find module '/app/node_modules/pkg/index.js'"),
      "Cannot find module '/app/node_modules/pkg/index.js'",
    ],
    ['throws nothing', undefined, 'undefined'],
  ])('that is there and %s is not to be installed again', (_, error, reason) => {
    expect(packageFault('pkg', 'does things', error)).toMatchObject({
      code: 'missing_dependency',
      message:
        `The package \`pkg\`, which does things, is installed and failed to load: ${reason}. ` +
        `See the error's \`cause\`, and try another version of the package`,
      cause: error,
    });
  });

  test('that cannot be looked up is not said to be installed, or to be missing', () => {
    // As Cloudflare's runtime says it. Where the address of the module is not known either, only a
    // worker shows it: see `test/compat/workers.ts`.
    const error = new Error('No such module "pkg".');
    expect(packageFault('pkg', 'does things', error)).toMatchObject({
      code: 'missing_dependency',
      message:
        'The package `pkg`, which does things, is loaded when it is first needed, and this ' +
        'runtime cannot look packages up then. A bundle does not contain it. Run this part on ' +
        'Node.js, Bun or Deno, with the package installed',
    });
    expect(packageFault('pkg', 'does things', error, '', 'Do without').message).toMatch(
      /A bundle does not contain it\. Do without$/,
    );
  });

  test('is distinguished by the errors of this Node', async () => {
    const errors = [
      await import(/* @vite-ignore */ `${'host-tools-no-such'}/part`).catch(
        (error: unknown) => error,
      ),
      (() => {
        try {
          return createRequire(import.meta.url)('host-tools-no-such/part');
        } catch (error) {
          return error;
        }
      })(),
    ];
    for (const error of errors)
      expect(packageFault('host-tools-no-such', 'is not there', error).message).toContain(
        'is not installed',
      );
  });

  test('says what else a host may do where it is missing', () => {
    expect(
      packageFault(
        'pkg',
        'does things',
        thrown('MODULE_NOT_FOUND', "Cannot find module 'pkg'"),
        ', or do without',
      ).message,
    ).toMatch(/`npm install pkg`, or do without$/);
  });
});
