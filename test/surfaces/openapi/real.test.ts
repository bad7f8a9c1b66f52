/** Real documents, whole. docs/openapi.md has the counts. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { importOpenApi } from '../../../src/surfaces/openapi/index.ts';
import { json, startServer } from './orders.ts';

const packages = fileURLToPath(new URL('../../../node_modules', import.meta.url));
/** A file of a package, also if its exports do not name it. */
const fileOf = (name: string, file: string): string => join(packages, name, file);
const examples = (file: string): string => fileOf('@readme/oas-examples', file);

/** The operations that are tools, and the ids of those that are not. */
const documents: readonly (readonly [string, string, number, readonly string[]])[] = [
  [
    'GitHub',
    fileOf('@octokit/openapi', 'generated/api.github.com.json'),
    1221,
    ['meta/get-octocat', 'repos/upload-release-asset'],
  ],
  ['Figma', fileOf('@figma/rest-api-spec', 'openapi/openapi.yaml'), 54, []],
  ['ShipEngine', fileOf('shipengine-openapi', 'openapi.json'), 75, ['download_file']],
  ['Rclone', fileOf('rclone-openapi', 'openapi.json'), 100, ['operationsUploadfile']],
  ['Scalar Galaxy', fileOf('@scalar/galaxy', 'dist/3.1.json'), 8, ['uploadImage']],
  [
    'ReadMe',
    examples('3.1/json/readme.json'),
    50,
    ['createAPI', 'updateAPI', 'uploadImage', 'validateAPI'],
  ],
  ['Train Travel', examples('3.1/json/train-travel.json'), 7, []],
  ['Star Trek', examples('3.0/json/star-trek.json'), 120, []],
  ['USPTO', examples('3.0/json/uspto.json'), 3, []],
  ['Petstore', examples('3.0/json/petstore.json'), 19, ['uploadFile']],
];

test.each(documents)(
  '%s',
  async (_, file, tools, failed) => {
    const imported = await importOpenApi(file, { server: 'http://127.0.0.1:1' });
    expect(imported.failed.map(({ name }) => name)).toEqual(failed);
    expect(imported.tools).toHaveLength(tools);
    // A registry takes all of them.
    const registry = new HostToolRegistry();
    registry.registerAll(imported.tools);
    expect(Object.keys(imported.pins)).toHaveLength(tools);
  },
  60_000,
);

test('an operation of GitHub is called as GitHub documents it', async () => {
  const { url, seen } = await startServer((_, response) => json(response, []));
  const registry = new HostToolRegistry();
  await importOpenApi(fileOf('@octokit/openapi', 'generated/api.github.com.json'), {
    registry,
    server: `${url}/api/v3`,
    operations: ['repos/list-for-org', 'issues/create'],
    headers: { 'x-github-api-version': '2022-11-28' },
  });
  const session = registry.createSession({ sessionId: 's' });
  const input = { org: 'octo-org', type: 'sources', per_page: 2 };
  expect(await session.call('repos/list-for-org', input)).toMatchObject({ output: [] });
  expect(seen[0]?.url).toBe('/api/v3/orgs/octo-org/repos?type=sources&per_page=2');
  expect(seen[0]?.headers).toMatchObject({ 'x-github-api-version': '2022-11-28' });
  for (const wrong of [{ org: 7 }, { ...input, type: 'all of them' }, { ...input, servr: 'x' }])
    expect((await session.call('repos/list-for-org', wrong)).error?.code).toBe('invalid_input');
  expect((await session.call('issues/create', { owner: 'o', repo: 'r' })).error?.code).toBe(
    'invalid_input',
  );
  expect(seen).toHaveLength(1);
}, 900_000);
