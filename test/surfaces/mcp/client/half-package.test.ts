/** A package in the cache of `npx` that was not loaded to its end: https://github.com/npm/cli/issues/8083. */
import { expect, test } from 'vitest';
import { halfPackageHint } from '../../../../src/surfaces/mcp/client/sdk.ts';

const hint =
  ' npm has only a part of this package in its cache. Delete the folder `_npx/15b07286cbcc3329` ' +
  'of `npm config get cache`, and it is loaded again.';

test.each([
  "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /home/ann/.npm/_npx/15b07286cbcc3329/node_modules/a/index.js",
  "Error: Cannot find module 'color-name' Require stack: - C:\\Users\\Ann B\\AppData\\Local\\npm-cache\\_npx\\15b07286cbcc3329\\node_modules\\a\\index.js",
])('the folder to delete is named for %j', (stderr) => {
  expect(halfPackageHint(stderr)).toBe(hint);
});

test.each([
  '',
  "Error: Cannot find module 'a' imported from /srv/app/index.js",
  'TypeError at /home/ann/.npm/_npx/15b07286cbcc3329/node_modules/a/index.js',
  'Cannot find module a: /_npx/`; rm -rf /',
  'Cannot find module a: /_npx/../../x/',
])('nothing is said about %j', (stderr) => {
  expect(halfPackageHint(stderr)).toBe('');
});
