import { expect, test } from 'vitest';
import { defineTool } from '../../../src/index.ts';
import { labelFaults, toolFaults } from '../../../src/surfaces/gateway/server-wishes.ts';

const file = defineTool({
  name: 'a.read_file',
  description: 'R.',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string' } },
    additionalProperties: false,
  },
  outputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  handler: () => ({}),
}) as never;
const drift = [{ name: 'a.drifted', pinned: undefined, found: undefined }];
const faults = (labels: object) =>
  labelFaults({ command: 'x', labels } as never, { tools: [file], drift }, 'a.');

test('labels that label something are right', () => {
  expect(
    faults({
      'read_*': { roles: { nothing: 'free' } },
      read_file: { roles: { path: 'target' }, origins: { text: 'untrusted' } },
      drifted: { origin: 'trusted' },
    }),
  ).toEqual([]);
});

test('a key that matches no tool is named, with the tool that was probably meant', () => {
  expect(faults({ read_fle: { origin: 'trusted' }, zzzzzz: {} })).toEqual([
    '`labels`: `read_fle` matches none of its tools, did you mean `read_file`?',
    '`labels`: `zzzzzz` matches none of its tools',
  ]);
});

test('so is a field that the tool does not have', () => {
  expect(faults({ read_file: { roles: { pth: 'target' }, origins: { txt: 'trusted' } } })).toEqual([
    '`labels`: `read_file` has no field `pth` for `roles`',
    '`labels`: `read_file` has no field `txt` for `origins`',
  ]);
});

test('a key with the prefix is named without it', () => {
  expect(faults({ 'a.read_*': {} })).toEqual([
    '`labels`: `a.read_*` matches none of its tools; write `read_*`, without the prefix',
  ]);
});

test('so is each glob of `tools` that matches nothing, whatever the others match', () => {
  const globs = (tools: readonly string[], prefix = 'a.') =>
    toolFaults({ command: 'x', tools } as never, ['read_file', 'list'], prefix);
  expect(globs(['read_*', 'list', '*'])).toEqual([]);
  expect(globs(['a.list', 'read_fle', 'a.zzzzzz', 'list'])).toEqual([
    '`tools`: `a.list` matches none of its tools; write `list`, without the prefix',
    '`tools`: `read_fle` matches none of its tools, did you mean `read_file`?',
    '`tools`: `a.zzzzzz` matches none of its tools',
  ]);
  expect(globs(['zzzzzz'], '')).toEqual(['`tools`: `zzzzzz` matches none of its tools']);
});
